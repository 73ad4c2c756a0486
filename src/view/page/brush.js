// The brush: strokes in pixels of the picture, from which Satin makes a mask, and their preview on the page.

import { Control } from "./control.js";
import { beforeNextFrame, byId } from "./dom.js";

const apart = 0.15; // distance of points, in radii

/** Records for the controls of the brush, in the form of a filter's parameters. */
const records = {
  radius: { unit: "px", minimum: 0.5, maximum: 4096, usual: [0.5, 500], scale: "logarithmic", help: "radius of the brush: [ and ] change it" },
  hardness: { unit: "%", minimum: 0, maximum: 100, usual: [0, 100], scale: "linear", help: "share of the radius that is fully painted" },
};

export class Brush {
  #session;
  #viewport;
  #gestures;
  #layer;
  #controls;
  #settings = { radius: 40, hardness: 50 };
  #stroke = null;
  #below = null; // the strokes before the last one, drawn
  #holding = "";
  draw = beforeNextFrame(() => this.#paint());

  constructor(layer, session, viewport, gestures) {
    this.#layer = layer;
    this.#session = session;
    this.#viewport = viewport;
    this.#gestures = gestures;
    this.#addControls();
    byId("brush").onclick = () => this.hold("brush");
    byId("eraser").onclick = () => this.hold("eraser");
    byId("invert-mask").onclick = () => this.#invert();
    byId("clear-mask").onclick = () => this.#clear();
    gestures.element.addEventListener("pointermove", (event) => this.#moveRing(event));
    gestures.element.addEventListener("pointerleave", () => { byId("ring").hidden = true; });
    viewport.addEventListener("move", () => this.draw());
    for (const event of ["values", "pipeline", "open"]) session.addEventListener(event, () => this.#renew());
    this.#renew();
  }

  #addControls() {
    const longerSide = () => Math.max(this.#session.picture?.width ?? 0, this.#session.picture?.height ?? 0);
    this.#settings.radius = Math.max(4, Math.round(longerSide() / 40));
    this.#controls = Object.entries(records).map(([name, record]) => {
      const value = () => String(this.#settings[name]);
      const set = (text) => this.#set(name, parseFloat(text));
      return new Control({ name, kind: "number", default: "", ...record }, { value, set, longerSide, prefix: "brush-" });
    });
    byId("brush-settings").replaceChildren(...this.#controls.map((each) => each.element));
  }

  #set(name, value) {
    const { minimum, maximum } = records[name];
    if (!Number.isNaN(value)) this.#settings[name] = Math.min(maximum, Math.max(minimum, value));
  }

  /** Whether the shown filter accepts a mask. */
  get #paints() {
    return this.#session.filter?.parameters.some(({ name, kind }) => name === "mask" && kind === "image") ?? false;
  }

  /** Activates the brush or the eraser, or deactivates it. */
  hold(which) {
    if (!this.#paints) return;
    if (this.#holding === which) {
      this.#gestures.take(null);
      return;
    }
    this.#gestures.take(this.#tool, () => this.#show(""));
    this.#show(which);
  }

  #show(which) {
    this.#holding = which;
    byId("brush").setAttribute("aria-pressed", String(which === "brush"));
    byId("eraser").setAttribute("aria-pressed", String(which === "eraser"));
    byId("brush-settings").hidden = !which;
    if (which) byId("brush-settings").scrollIntoView({ block: "nearest" });
    byId("ring").hidden = true;
    this.draw();
  }

  /** Changes the size of the brush. */
  grow(direction) {
    this.#set("radius", Math.round(this.#settings.radius * 1.25 ** direction * 2) / 2);
    this.#controls[0].show();
  }

  /** Moves the ring that shows the size of the brush. */
  #moveRing({ offsetX, offsetY }) {
    const ring = byId("ring");
    ring.hidden = !this.#holding;
    const size = (2 * this.#settings.radius * this.#viewport.zoom) / devicePixelRatio;
    Object.assign(ring.style, { left: `${offsetX}px`, top: `${offsetY}px`, width: `${size}px`, height: `${size}px` });
  }

  /** The first stroke on an empty mask decides whether strokes say where the filter works or where it does not. */
  #tool = {
    press: (x, y) => {
      this.#session.begin();
      const { radius, hardness } = this.#settings;
      const { step } = this.#session;
      const keeps = this.#holding === "eraser";
      if (!step.strokes.length && !step.values.mask) step.inverted = keeps;
      this.#stroke = { points: [[x, y]], radius, hardness: hardness / 100, erase: keeps !== Boolean(step.inverted) };
      step.strokes.push(this.#stroke);
      this.#session.change();
    },
    drag: (x, y) => {
      const [lastX, lastY] = this.#stroke.points.at(-1);
      if (Math.hypot(x - lastX, y - lastY) < Math.max(0.5, apart * this.#stroke.radius)) return;
      this.#stroke.points.push([Math.round(8 * x) / 8, Math.round(8 * y) / 8]);
      this.#session.change();
    },
    release: () => this.#session.settle(),
    cancel: () => {
      this.#session.step.strokes.pop();
      this.#session.change();
      this.#session.settle();
    },
  };

  #invert() {
    const { step } = this.#session;
    step.inverted = !step.inverted;
    this.#session.change();
    this.#session.settle();
  }

  #clear() {
    Object.assign(this.#session.step, { strokes: [], inverted: false });
    delete this.#session.step.values.mask;
    this.#session.change();
    this.#session.settle();
  }

  #renew() {
    byId("mask").hidden = !this.#paints;
    if (!this.#paints && this.#holding) this.#gestures.take(null);
    const masked = this.#session.step?.strokes.length || this.#session.step?.values.mask;
    for (const name of ["invert-mask", "clear-mask"]) byId(name).disabled = !masked;
    this.draw();
  }

  /** Draws the strokes over the result while the brush is active. Those before the last one are drawn once. */
  #paint() {
    const { width, height } = this.#viewport;
    Object.assign(this.#layer, { width, height });
    this.#layer.hidden = !this.#holding;
    if (!this.#holding || !this.#session.step) return;
    const { strokes } = this.#session.step;
    const context = this.#layer.getContext("2d");
    if (strokes.length > 1) context.drawImage(this.#layerOf(strokes.slice(0, -1)), 0, 0);
    if (strokes.length) this.#drawStroke(context, strokes.at(-1));
  }

  /** Returns a canvas with these strokes, to which new ones are added. */
  #layerOf(strokes) {
    const { x, y, zoom, width, height } = this.#viewport;
    const place = [x, y, zoom, width, height, this.#session.step.inverted].join(" ");
    const goesOn = this.#below?.place === place && this.#below.strokes.every((stroke, i) => stroke === strokes[i]);
    if (!goesOn) this.#below = { place, strokes: [], canvas: new OffscreenCanvas(width, height) };
    const context = this.#below.canvas.getContext("2d");
    for (const stroke of strokes.slice(this.#below.strokes.length)) this.#drawStroke(context, stroke);
    this.#below.strokes = strokes;
    return this.#below.canvas;
  }

  #drawStroke(context, { points, radius, hardness, erase }) {
    const size = 2 * radius * this.#viewport.zoom;
    context.lineCap = context.lineJoin = "round";
    context.globalCompositeOperation = erase ? "destination-out" : "source-over";
    context.strokeStyle = this.#session.step.inverted ? "rgb(40 120 235)" : "rgb(226 74 60)";
    context.lineWidth = size * (0.5 + 0.5 * hardness);
    context.filter = hardness < 0.99 ? `blur(${(size * (1 - hardness)) / 8}px)` : "none";
    context.beginPath();
    for (const [i, point] of points.entries()) {
      const [x, y] = this.#viewport.toCanvas(...point);
      if (i === 0) context.moveTo(x, y);
      context.lineTo(x, y);
    }
    context.stroke();
  }
}
