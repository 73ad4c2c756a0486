// The comparison of before and after: a line that is dragged across the view, and a button that is held.

import { byId } from "./dom.js";

export class Compare {
  #canvas;
  #frames;
  #slider = byId("compare");
  #held = false;

  constructor(canvas, frames) {
    this.#canvas = canvas;
    this.#frames = frames;
    this.#slider.addEventListener("input", () => this.#show());
    this.#slider.addEventListener("dblclick", () => {
      this.#slider.value = 0;
      this.#show();
    });
    const button = byId("hold");
    button.addEventListener("pointerdown", (event) => {
      button.setPointerCapture(event.pointerId);
      this.hold(true);
    });
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    for (const end of ["pointerup", "pointercancel"]) button.addEventListener(end, () => this.hold(false));
    button.addEventListener("keydown", ({ key }) => (key === " " || key === "Enter") && this.hold(true));
    for (const end of ["keyup", "blur"]) button.addEventListener(end, () => this.hold(false));
  }

  /** Shows the picture before in the whole view while the button is held. */
  hold(held) {
    if (held === this.#held) return;
    this.#held = held;
    byId("hold").classList.toggle("held", held);
    this.#show();
  }

  #show() {
    const share = this.#held ? 1 : this.#slider.value / 100;
    const split = byId("split");
    split.hidden = share === 0;
    split.classList.toggle("whole", this.#held);
    split.style.setProperty("--share", `${100 * share}%`);
    this.#slider.setAttribute("aria-valuetext", `${Math.round(100 * share)} % before`);
    this.#canvas.share = share;
    this.#frames.wantsBefore = share > 0;
    this.#canvas.draw();
  }
}
