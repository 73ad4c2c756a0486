// Keys of the page and of the picture, and the cross that replaces the mouse.

import { ask, byId, element } from "./dom.js";

const list = [
  ["Arrows", "move the view; on a slider 1 %, with Shift 10 %"], ["+  −", "zoom"], ["0", "the whole picture"],
  ["1", "a pixel of the picture on one of the screen"],
  ["B", "hold to see the picture before"], ["X", "a line between before and after"], ["Y", "before and after side by side"],
  ["L", "loupe"],
  ["C", "cross: arrows move it, Enter clicks, or begins and ends a stroke"], ["Shift + drag", "strength"],
  ["M", "paint where the filter works"], ["E", "paint where it stays sharp"], ["[  ]", "smaller and larger brush"],
  ["Ctrl + Z", "undo"], ["Ctrl + Shift + Z", "redo"], ["Ctrl + S", "save"],
  ["Page up, Page down", "the picture before, the next"], ["An empty field", "is the default"],
];

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Keys {
  #parts;
  #cross = null;
  #pressed = false;

  /** `parts`: session, viewport, canvas, gestures, compare, loupe, brush, strip and keeping. */
  constructor(parts) {
    this.#parts = parts;
    addEventListener("keydown", (event) => this.#down(event));
    addEventListener("keyup", ({ key }) => key.toLowerCase() === "b" && parts.compare.hold(false));
    addEventListener("blur", () => parts.compare.hold(false));
    parts.canvas.element.addEventListener("keydown", (event) => this.#onPicture(event));
    parts.canvas.element.addEventListener("blur", () => this.#leaveCross());
    parts.viewport.addEventListener("move", () => this.#drawCross());
    byId("keys").onclick = () => this.#help();
  }

  #down(event) {
    const held = event.repeat && /^[a-z?]$/i.test(event.key);
    if (event.defaultPrevented || held || byId("dialog").open) return;
    const typing = event.target.matches("input:not([type=range]):not([type=checkbox]), textarea, select");
    const control = event.ctrlKey || event.metaKey;
    if (!control && (typing || event.altKey)) return;
    const action = control ? this.#withControl(event, typing) : this.#plain(event);
    if (!action) return;
    event.preventDefault();
    action();
  }

  #withControl(event, typing) {
    const { session, keeping } = this.#parts;
    const key = (event.shiftKey ? "shift " : "") + event.key.toLowerCase();
    if (key === "s") return () => keeping.save();
    if (typing) return null;
    return { z: () => session.undo(), "shift z": () => session.redo(), y: () => session.redo() }[key];
  }

  #plain({ key }) {
    const { viewport, compare, loupe, brush, strip } = this.#parts;
    return {
      "+": () => viewport.step(1), "=": () => viewport.step(1), "-": () => viewport.step(-1),
      0: () => viewport.fit(), 1: () => viewport.zoomTo(1),
      b: () => compare.hold(true), x: () => compare.toggleSplit(), y: () => compare.toggleBeside(), l: () => loupe.toggle(),
      m: () => brush.hold("brush"), e: () => brush.hold("eraser"), "[": () => brush.grow(-1), "]": () => brush.grow(1),
      c: () => this.#toggleCross(), "?": () => this.#help(),
      PageUp: () => strip.step(-1), PageDown: () => strip.step(1),
    }[key.length === 1 ? key.toLowerCase() : key];
  }

  #onPicture(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = arrows[event.key];
    const action = arrow ? () => this.#arrow(arrow, event.shiftKey) : this.#cross && this.#crossAction(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  }

  #arrow([x, y], far) {
    const { viewport, loupe, gestures, session } = this.#parts;
    if (!this.#cross) {
      const way = far ? 0.5 : 0.1;
      viewport.pan(-x * way * viewport.width, -y * way * viewport.height);
      return;
    }
    const way = (far ? 10 : 1) * Math.max(1, 1 / viewport.zoom);
    const inside = (at, size) => Math.min(size - 0.5, Math.max(0.5, at));
    const { width, height } = session.picture;
    this.#cross = [inside(this.#cross[0] + x * way, width), inside(this.#cross[1] + y * way, height)];
    viewport.reveal(...this.#cross);
    if (this.#pressed) gestures.tool?.drag(...this.#cross);
    loupe.look(...this.#cross);
    this.#drawCross();
  }

  /** Enter clicks. With a tool, Enter or Space begins and ends a stroke. */
  #crossAction(key) {
    const { gestures } = this.#parts;
    if (key === "Escape") return () => this.#leaveCross();
    if (key !== "Enter" && key !== " ") return null;
    return () => {
      if (!gestures.tool) {
        gestures.click(...this.#cross);
        return;
      }
      const { tool } = gestures;
      if (this.#pressed) tool.release(...this.#cross);
      else tool.press(...this.#cross);
      this.#pressed = !this.#pressed && Boolean(gestures.tool);
    };
  }

  #toggleCross() {
    const { canvas, viewport, loupe, session } = this.#parts;
    if (this.#cross || !session.picture) {
      this.#leaveCross();
      return;
    }
    canvas.element.focus();
    this.#cross = viewport.toPicture(viewport.width / 2, viewport.height / 2).map((at) => Math.floor(at) + 0.5);
    loupe.look(...this.#cross);
    this.#drawCross();
  }

  #leaveCross() {
    if (!this.#cross) return;
    const { gestures, loupe } = this.#parts;
    if (this.#pressed) gestures.tool?.release(...this.#cross);
    this.#pressed = false;
    this.#cross = null;
    loupe.leave();
    this.#drawCross();
  }

  #drawCross() {
    const cross = byId("cross");
    cross.hidden = !this.#cross;
    if (!this.#cross) return;
    const [x, y] = this.#parts.viewport.toCanvas(...this.#cross);
    cross.style.left = `${x / devicePixelRatio}px`;
    cross.style.top = `${y / devicePixelRatio}px`;
  }

  #help() {
    const rows = list.flatMap(([key, what]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, what)]);
    ask("Keys", "", ["Close"], [element("dl", { className: "keys" }, ...rows)]);
  }
}
