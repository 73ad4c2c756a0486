// The loupe: the pixels around the pointer, and colour, depth and radius of the one under it.

import { byId, element } from "./dom.js";
import { Refusal } from "./server.js";

const side = 11; // pixels

const hex = (colour) => `#${colour.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
const number = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

export class Loupe {
  #at = null;
  #asking = false;
  #asked = "";
  #on = true;

  constructor(server, session, viewport, canvas, gestures) {
    Object.assign(this, { server, session, viewport, canvas });
    canvas.element.addEventListener("pointermove", (event) => this.look(...gestures.place(event)));
    canvas.element.addEventListener("pointerleave", () => this.leave());
    canvas.element.addEventListener("painted", () => this.#renew());
    byId("loupe-toggle").onclick = () => this.toggle();
  }

  toggle() {
    this.#on = !this.#on;
    byId("loupe-toggle").setAttribute("aria-pressed", String(this.#on));
    this.#renew();
  }

  /** Shows the loupe at a position of the picture. */
  look(x, y) {
    this.#at = [Math.floor(x), Math.floor(y)];
    this.#renew();
  }

  leave() {
    this.#at = null;
    this.#renew();
  }

  #renew() {
    const { picture } = this.session;
    const [x, y] = this.#at ?? [-1, -1];
    const inside = this.#on && picture && x >= 0 && y >= 0 && x < picture.width && y < picture.height;
    const loupe = byId("loupe");
    loupe.hidden = !inside;
    if (!inside) return;
    const [canvasX, canvasY] = this.viewport.toCanvas(x + 0.5, y + 0.5);
    loupe.classList.toggle("right", canvasX < this.viewport.width / 2 && canvasY < this.viewport.height / 2);
    this.#magnify(canvasX, canvasY);
    this.#ask();
  }

  #magnify(x, y) {
    const target = byId("loupe-pixels");
    const context = target.getContext("2d");
    const cell = target.width / side;
    const from = (at) => Math.floor(at) - (side - 1) / 2;
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, target.width, target.height);
    context.drawImage(this.canvas.element, from(x), from(y), side, side, 0, 0, target.width, target.height);
    for (const [colour, grow] of [["#000", 1.5], ["#fff", 0.5]]) {
      context.strokeStyle = colour;
      const start = (cell * (side - 1)) / 2 - grow;
      context.strokeRect(start, start, cell + 2 * grow, cell + 2 * grow);
    }
  }

  /** Requests the values at the newest position, one request after the other. */
  async #ask() {
    if (this.#asking) return;
    this.#asking = true;
    try {
      for (;;) {
        const [x, y] = this.#at ?? [];
        const wish = `${x} ${y} ${this.session.generation} ${this.canvas.element.dataset.state}`;
        if (x === undefined || wish === this.#asked) break;
        this.#show(x, y, await this.server.json("at", { x, y }));
        this.#asked = wish;
      }
    } catch (error) {
      if (!(error instanceof Refusal)) this.leave();
    } finally {
      this.#asking = false;
    }
  }

  #show(x, y, { before, after, depth, radius }) {
    const rows = [["Place", `${x}, ${y}`]];
    if (before) rows.push(["Before", this.#colour(before)]);
    if (after) rows.push(["After", this.#colour(after)]);
    if (depth !== null && depth !== undefined) rows.push(["Depth", number(depth)]);
    if (radius !== null && radius !== undefined) rows.push(["Radius", `${number(radius)} px`]);
    const row = ([name, value]) => [element("dt", {}, name), element("dd", {}, value)];
    byId("loupe-values").replaceChildren(...rows.flatMap(row));
  }

  #colour(colour) {
    const sample = element("i", { className: "sample" });
    sample.style.backgroundColor = hex(colour.slice(0, 3));
    return element("span", {}, sample, colour.join(" "));
  }
}
