// The canvas, which shows frames shifted and scaled until better ones arrive, and the comparison of before and after on it.

import { percentOfKey } from "./control.js";
import { beforeNextFrame, byId } from "./dom.js";

/** Returns a canvas with the pixels of a frame, made when the frame must be scaled. */
function surface(frame) {
  if (!frame.surface) {
    frame.surface = new OffscreenCanvas(frame.width, frame.height);
    frame.surface.getContext("2d").putImageData(frame.pixels, 0, 0);
  }
  return frame.surface;
}

export class PictureCanvas {
  #context;
  #beside;
  /** Canvas that shows the picture before beside this one, unless it is hidden. */
  before = byId("before");
  draw = beforeNextFrame(() => this.#paint());
  /** Fraction of the width, from the left, that shows the picture before. */
  share = 0;

  constructor(element, viewport, frames) {
    Object.assign(this, { element, viewport, frames });
    const context = (canvas) => canvas.getContext("2d", { colorSpace: "srgb", willReadFrequently: true });
    this.#context = context(element);
    this.#beside = context(this.before);
    viewport.addEventListener("move", () => this.draw());
    frames.addEventListener("frame", () => this.draw());
    frames.addEventListener("state", () => {
      if (frames.state === "busy") element.dataset.state = "busy";
      else this.draw();
    });
  }

  /** Sets the size in screen pixels. */
  resize(width, height) {
    for (const canvas of [this.element, this.before]) Object.assign(canvas, { width, height });
    Object.assign(this.before.style, { width: `${width / devicePixelRatio}px`, height: `${height / devicePixelRatio}px` });
    this.draw();
  }

  #paint() {
    const { x, y, zoom, width, height } = this.viewport;
    const { after, before, whole } = this.frames;
    const split = this.frames.refused ? width : Math.round(width * this.share);
    this.#context.clearRect(0, 0, width, height);
    if (whole && whole !== after && whole.key === after?.key && split < width) this.#place(whole, split, width);
    if (after && split < width) this.#place(after, split, width);
    if (before && split) this.#place(before, 0, split);
    if (!this.before.hidden) {
      this.#beside.clearRect(0, 0, width, height);
      if (before) this.#place(before, 0, width, this.#beside);
    }
    const { dataset } = this.element;
    Object.assign(dataset, { x, y, zoom, generation: after?.generation ?? 0, state: this.frames.state });
    this.element.dispatchEvent(new Event("painted"));
  }

  /** Draws a frame between two columns of a canvas. */
  #place(frame, from, to, context = this.#context) {
    const { x, y, zoom, height } = this.viewport;
    if (frame.x === x && frame.y === y && frame.zoom === zoom) {
      context.putImageData(frame.pixels, 0, 0, from, 0, to - from, frame.height);
      return;
    }
    const scale = zoom / frame.zoom;
    const [left, top] = this.viewport.toCanvas(frame.x, frame.y);
    context.save();
    context.beginPath();
    context.rect(from, 0, to - from, height);
    context.clip();
    context.imageSmoothingEnabled = zoom < 2;
    context.imageSmoothingQuality = scale < 1 ? "medium" : "low";
    context.drawImage(surface(frame), left, top, frame.width * scale, frame.height * scale);
    context.restore();
  }
}

/** The comparison of before and after: a line that is dragged across the view, two views, and a button that is held. */
export class Compare {
  #slider = byId("compare");
  #held = false;
  #beside = false;

  constructor(canvas, frames) {
    Object.assign(this, { canvas, frames });
    this.#slider.addEventListener("input", () => this.#show());
    this.#slider.addEventListener("keydown", (event) => {
      const percent = percentOfKey(event);
      if (!percent) return;
      event.preventDefault();
      this.#split(Number(this.#slider.value) + percent);
    });
    this.#slider.addEventListener("dblclick", () => this.#split(0));
    byId("split-toggle").onclick = () => this.toggleSplit();
    byId("two-up").onclick = () => this.toggleBeside();
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

  /** Puts the line in the middle, or removes it. */
  toggleSplit() {
    this.#beside = false;
    this.#split(Number(this.#slider.value) ? 0 : 50);
  }

  #split(percent) {
    this.#slider.value = percent;
    this.#show();
  }

  /** Shows before and after side by side, at the same position and scale, or ends that. */
  toggleBeside() {
    this.#beside = !this.#beside;
    this.#split(0);
  }

  #show() {
    const share = this.#held ? 1 : this.#slider.value / 100;
    const split = byId("split");
    split.hidden = share === 0 && !this.#beside;
    split.classList.toggle("whole", this.#held);
    split.style.setProperty("--share", `${this.#beside ? 50 : 100 * share}%`);
    this.#slider.setAttribute("aria-valuetext", `${Math.round(100 * share)} % before`);
    this.#slider.hidden = this.#beside;
    this.canvas.before.hidden = !this.#beside;
    byId("stage").classList.toggle("two-up", this.#beside);
    byId("two-up").setAttribute("aria-pressed", String(this.#beside));
    byId("split-toggle").setAttribute("aria-pressed", String(Number(this.#slider.value) > 0));
    this.canvas.share = share;
    this.frames.wantsBefore = share > 0 || this.#beside;
    this.canvas.draw();
  }
}
