// A drag with the shift key, up or down, changes how strong the shown filter is.

import { positions, partsOf, scaleOf } from "./scale.js";

const names = ["strength", "radius", "sigma", "sigma-s", "amount", "window", "cell", "grow", "roughness"];
const fullWay = 500;

export class Strength {
  #session;
  #parameter = null;
  #scale;
  #from = 0;
  #sign = "";

  constructor(session) {
    this.#session = session;
  }

  /** Gets the way since the press, in pixels of the page, and null at the end of the drag. */
  pull = (way) => {
    if (way === null) {
      this.#parameter = null;
      this.#session.settle();
      return;
    }
    if (!this.#parameter && !this.#begin()) return;
    const position = Math.min(positions, Math.max(0, this.#from + (positions * way) / fullWay));
    this.#session.set(this.#parameter, this.#scale.value(position) + this.#sign);
  };

  #begin() {
    const { filter, picture } = this.#session;
    const known = names.map((name) => filter?.parameters.find((parameter) => parameter.name === name));
    this.#parameter = known.find(Boolean) ?? null;
    if (!this.#parameter || !picture) return false;
    const text = this.#session.value(this.#parameter) || (this.#parameter.kind === "length" ? "1%" : "");
    const { number, percent } = partsOf(text);
    this.#session.begin();
    this.#scale = scaleOf(this.#parameter, text, Math.max(picture.width, picture.height));
    this.#from = this.#scale.position(number || 0);
    this.#sign = percent ? "%" : "";
    return true;
  }
}
