// Points and boxes of the shown step: handles on the picture that can be dragged, and the tools that make them.

import { byId, shape } from "./dom.js";

const corner = 12;

/** Parses "X,Y", each possibly in percent, to [x, y] in pixels. Returns null for anything else. */
function parsePoint(text, { width, height }) {
  const parts = text.split(",");
  if (parts.length !== 2) return null;
  const wholes = [width, height];
  const lengths = parts.map((part, i) => parseFloat(part) * (part.includes("%") ? wholes[i] / 100 : 1));
  return lengths.every(Number.isFinite) ? lengths : null;
}

/** Prints a point: in percent if `before` was in percent, otherwise in pixels. */
function printPoint([x, y], before, { width, height }) {
  if (before.includes("%")) return `${((100 * x) / width).toFixed(2)}%,${((100 * y) / height).toFixed(2)}%`;
  return `${Math.floor(x)},${Math.floor(y)}`;
}

/** Parses "X,Y,W,H;X,Y,W,H" to [x, y, width, height] of every valid box. */
function parseBoxes(text) {
  const boxes = text.split(";").map((box) => box.split(",").map(Number));
  return boxes.filter((box) => box.length === 4 && box.every(Number.isFinite));
}

const printBoxes = (boxes) => boxes.map((box) => box.join(",")).join(";");

export class Marks {
  #armed = null;
  #clicked = false;

  constructor(layer, session, viewport, gestures) {
    Object.assign(this, { layer, session, viewport, gestures });
    viewport.addEventListener("move", () => this.draw());
    for (const event of ["values", "pipeline", "open", "answer", "found"]) session.addEventListener(event, () => this.draw());
    session.addEventListener("pipeline", () => this.#armed && gestures.take(null));
    gestures.click = (x, y) => this.#click(x, y);
  }

  #parameters(kind) {
    return this.session.filter?.parameters.filter((parameter) => parameter.kind === kind) ?? [];
  }

  /** Sets the first point of the step by a click without a tool. */
  #click(x, y) {
    const [parameter] = this.#parameters("point");
    if (!parameter) return;
    this.#setPoint(parameter, x, y);
    this.session.settle();
  }

  #setPoint(parameter, x, y) {
    this.#clicked = true;
    const { picture } = this.session;
    const inside = [Math.min(picture.width - 1, Math.max(0, x)), Math.min(picture.height - 1, Math.max(0, y))];
    this.session.set(parameter, printPoint(inside, this.session.value(parameter), picture));
  }

  /** Activates or deactivates the tool of a parameter; `button` shows its state. */
  arm(parameter, button) {
    if (this.#armed === button) return this.gestures.take(null);
    const tool = parameter.kind === "point" ? this.#pointTool(parameter) : this.#boxTool(parameter);
    this.gestures.take(tool, () => this.#show(null));
    return this.#show(button);
  }

  #show(button) {
    this.#armed?.setAttribute("aria-pressed", "false");
    button?.setAttribute("aria-pressed", "true");
    this.#armed = button;
  }

  #pointTool(parameter) {
    const put = (x, y) => this.#setPoint(parameter, x, y);
    const release = (x, y) => {
      put(x, y);
      this.session.settle();
      this.gestures.take(null);
    };
    const press = (x, y) => {
      this.session.begin();
      put(x, y);
    };
    return { press, drag: put, release, cancel: () => this.session.settle() };
  }

  /** Adds one box per drag. */
  #boxTool(parameter) {
    let from = null;
    let others = [];
    const put = (x, y) => this.session.set(parameter, printBoxes([...others, ...this.#boxBetween(from, [x, y])]));
    return {
      press: (x, y) => {
        this.session.begin();
        from = [x, y];
        others = parseBoxes(this.session.value(parameter));
      },
      drag: put,
      release: (x, y) => {
        put(x, y);
        this.session.settle();
      },
      cancel: () => {
        this.session.set(parameter, printBoxes(others));
        this.session.settle();
      },
    };
  }

  /** Returns the box between two positions, clipped to the picture, as a list that is empty for an empty box. */
  #boxBetween([fromX, fromY], [toX, toY]) {
    const { width, height } = this.session.picture;
    const left = Math.max(0, Math.floor(Math.min(fromX, toX)));
    const top = Math.max(0, Math.floor(Math.min(fromY, toY)));
    const right = Math.min(width, Math.ceil(Math.max(fromX, toX)));
    const bottom = Math.min(height, Math.ceil(Math.max(fromY, toY)));
    return right > left && bottom > top ? [[left, top, right - left, bottom - top]] : [];
  }

  draw() {
    this.layer.replaceChildren();
    byId("hint").hidden = true;
    if (!this.session.picture || !this.session.step) return;
    for (const parameter of this.#parameters("point")) this.#drawPoint(parameter);
    for (const parameter of this.#parameters("box")) this.#drawBoxes(parameter);
  }

  /** Converts a position in the picture to pixels of the page. */
  #inPage(x, y) {
    return this.viewport.toCanvas(x, y).map((value) => value / devicePixelRatio);
  }

  #drawPoint(parameter) {
    const text = this.session.value(parameter);
    const place = parsePoint(text || this.session.found(parameter) || "", this.session.picture);
    if (!place) return;
    const name = parameter.name.replace(/-at$/, "");
    byId("hint").hidden = this.#clicked || parameter.name in this.session.step.values || name in this.session.step.values;
    byId("hint").textContent = `Click the picture to set the ${name}`;
    const [x, y] = this.#inPage(place[0] + 0.5, place[1] + 0.5);
    const mark = shape("g", { class: text ? "place" : "place automatic", transform: `translate(${x} ${y})` });
    mark.append(shape("circle", { r: 22, class: "grip" }));
    for (const layer of ["under", "over"]) {
      mark.append(shape("circle", { r: 11, class: layer }));
      mark.append(shape("path", { d: "M0-17v8M0 9v8M-17 0h8M9 0h8", class: layer }));
    }
    this.#makeDraggable(mark, (toX, toY) => this.#setPoint(parameter, toX, toY));
    this.layer.append(mark);
  }

  #drawBoxes(parameter) {
    const boxes = parseBoxes(this.session.value(parameter));
    for (const [i, box] of boxes.entries()) {
      const [x, y] = this.#inPage(box[0], box[1]);
      const [right, bottom] = this.#inPage(box[0] + box[2], box[1] + box[3]);
      const size = { x, y, width: right - x, height: bottom - y };
      const others = (changed) => this.session.set(parameter, printBoxes(boxes.toSpliced(i, 1, ...changed)));
      const place = { x: right - corner, y: bottom - corner, width: corner, height: corner };
      const sizer = shape("rect", { ...place, class: "corner" });
      this.#makeDraggable(sizer, (toX, toY) => others(this.#boxBetween([box[0], box[1]], [toX, toY])));
      const remover = shape("g", { class: "remover", transform: `translate(${right} ${y})` });
      remover.append(shape("circle", { r: 9 }), shape("path", { d: "m-3-3 6 6m0-6-6 6" }));
      remover.addEventListener("pointerdown", (event) => {
        event.stopPropagation();
        others([]);
        this.session.settle();
      });
      const outlines = ["under", "over"].map((layer) => shape("rect", { ...size, class: layer }));
      this.layer.append(...outlines, sizer, remover);
    }
  }

  /** Makes a mark draggable. The layer is redrawn during a drag, so the window listens until its end. */
  #makeDraggable(mark, put) {
    mark.addEventListener("pointerdown", (event) => {
      if (event.button > 0 || this.gestures.tool) return;
      event.preventDefault();
      this.session.begin();
      const move = (moved) => put(...this.gestures.place(moved));
      const end = () => {
        for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener);
        this.session.settle();
      };
      const listeners = { pointermove: move, pointerup: end, pointercancel: end };
      for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener);
    });
  }
}
