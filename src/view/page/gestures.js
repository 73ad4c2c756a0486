// Pointers and the wheel on the picture. A tool gets presses, drags and releases. Without one, a drag moves the view, and a
// drag with the shift key changes how strong the filter is.

import { partsOf, positions, scaleOf, sliding } from "./control.js";

const slack = 4; // pixels that a click may move

/**
 * Gestures on the picture. At most one tool is active: {press, drag, release, cancel}, called with positions in the picture.
 * Without one a drag moves the view and a click calls `click`.
 */
export class Gestures {
  /** Called with the position of a click without a tool. */
  click = () => {};
  /** Called during a drag with the shift key with its distance in pixels, and with null at its end. */
  pull = () => {};
  #pointers = new Map();
  #drag = null;
  tool = null;
  #laidDown = () => {};

  /** `elements` are canvases that show the same position of the viewport. The first one has marks. */
  constructor(elements, viewport) {
    Object.assign(this, { element: elements[0], viewport });
    for (const element of elements) {
      element.addEventListener("pointerdown", (event) => this.#down(event));
      element.addEventListener("pointermove", (event) => this.#move(event));
      for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, (event) => this.#up(event));
      element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    }
  }

  /** Activates a tool, or none. Calls `laidDown` of the former tool. */
  take(tool, laidDown = () => {}) {
    const former = this.#laidDown;
    this.tool = null;
    this.#laidDown = () => {};
    former();
    this.tool = tool;
    this.#laidDown = laidDown;
  }

  /** Converts a position in the page to a pixel of the canvas. */
  #canvasPlace({ clientX, clientY, currentTarget }) {
    const element = currentTarget instanceof HTMLCanvasElement ? currentTarget : this.element;
    const box = element.getBoundingClientRect();
    const scale = element.width / box.width;
    return [(clientX - box.left) * scale, (clientY - box.top) * scale];
  }

  /** Converts a position in the page to one in the picture. */
  place(event) {
    return this.viewport.toPicture(...this.#canvasPlace(event));
  }

  #down(event) {
    if (event.button > 1) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, this.#canvasPlace(event));
    if (this.#pointers.size === 2) {
      if (this.#drag?.tool) this.#drag.tool.cancel();
      this.#drag = { kind: "pinch", moved: true };
    } else {
      const middle = event.button === 1;
      const tool = middle ? null : this.tool;
      const kind = tool ? "tool" : event.shiftKey && !middle ? "pull" : "view";
      this.#drag = { kind, tool, from: this.#canvasPlace(event), moved: middle };
      this.#drag.tool?.press(...this.place(event));
    }
  }

  #move(event) {
    const last = this.#pointers.get(event.pointerId);
    if (!last) return;
    const at = this.#canvasPlace(event);
    const { kind, from, tool } = this.#drag;
    if (kind === "pinch") this.#pinch(event.pointerId, at);
    this.#pointers.set(event.pointerId, at);
    if (kind === "tool") {
      const { currentTarget } = event;
      for (const { clientX, clientY } of event.getCoalescedEvents?.() ?? [event])
        tool.drag(...this.place({ clientX, clientY, currentTarget }));
      return;
    }
    if (!this.#drag.moved && Math.hypot(at[0] - from[0], at[1] - from[1]) < slack * devicePixelRatio) return;
    const start = this.#drag.moved ? last : from;
    if (kind === "view") this.viewport.pan(at[0] - start[0], at[1] - start[1]);
    if (kind === "pull") this.pull((from[1] - at[1]) / devicePixelRatio);
    this.#drag.moved = true;
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId)) return;
    const { kind, moved, tool } = this.#drag;
    if (this.#pointers.size) return;
    this.#drag = null;
    if (kind === "tool") tool.release(...this.place(event));
    else if (kind === "pull" && moved) this.pull(null);
    else if (!moved && event.type === "pointerup") this.click(...this.place(event));
  }

  /** Moves and scales by two fingers: the picture between them stays between them. */
  #pinch(id, at) {
    const other = [...this.#pointers].find(([key]) => key !== id)?.[1];
    if (!other) return;
    const last = this.#pointers.get(id);
    const span = (place) => Math.max(1, Math.hypot(place[0] - other[0], place[1] - other[1]));
    const middle = (place) => [(place[0] + other[0]) / 2, (place[1] + other[1]) / 2];
    const [fromX, fromY] = middle(last);
    const [toX, toY] = middle(at);
    this.viewport.zoomTo((this.viewport.zoom * span(at)) / span(last), fromX, fromY);
    this.viewport.pan(toX - fromX, toY - fromY);
  }

  /** Zooms at the pointer by the wheel. Sideways, or with the shift key, the wheel moves the view. */
  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    const [alongX, alongY] = [event.deltaX * lines, event.deltaY * lines];
    if (!event.ctrlKey && (event.shiftKey || alongX)) {
      this.viewport.pan(-(alongX || alongY) * devicePixelRatio, event.shiftKey ? 0 : -alongY * devicePixelRatio);
      return;
    }
    const rate = event.ctrlKey ? 0.01 : 0.002;
    this.viewport.zoomTo(this.viewport.zoom * Math.exp(-alongY * rate), ...this.#canvasPlace(event));
  }
}

const fullWay = 500; // pixels of the page for the whole range

/** Changes how strong the shown filter is, by a drag with the shift key, up or down. */
export class Strength {
  #session;
  #parameter = null;
  #scale;
  #from = 0;
  #sign = "";

  constructor(session) {
    this.#session = session;
  }

  /** Handles the distance since the press, in pixels of the page, and null at the end of the drag. */
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
    const { parameters, step, picture } = this.#session;
    const numbers = parameters.filter(({ kind, group }) => sliding.has(kind) && group === "main");
    const known = numbers.filter(({ strength }) => strength);
    this.#parameter = known.find(({ name }) => name in step.values) ?? known[0] ?? numbers[0] ?? null;
    if (!this.#parameter || !picture) return false;
    const text = this.#session.value(this.#parameter) || (this.#parameter.kind === "length" ? "1%" : "");
    const { number, percent } = partsOf(text);
    this.#session.begin();
    this.#scale = scaleOf(this.#parameter, text);
    this.#from = this.#scale.position(number || 0);
    this.#sign = percent ? "%" : "";
    return true;
  }
}
