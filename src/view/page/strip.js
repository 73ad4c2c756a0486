// The strip of pictures of a folder below the view. Settings are kept from one picture to the next.

import { attempt, byId, element, fileName } from "./dom.js";
import { Refusal } from "./server.js";

const pause = 1000; // milliseconds after a request without an answer

export class Strip {
  #server;
  #session;
  #buttons = [];
  #frames;
  #seen;
  #wanted = [];
  #loading = false;

  constructor(server, session, frames) {
    this.#server = server;
    this.#session = session;
    this.#frames = frames;
    const near = { root: byId("pictures"), rootMargin: "300px" };
    this.#seen = new IntersectionObserver((entries) => this.#want(entries), near);
    for (const event of ["frame", "state"]) frames.addEventListener(event, () => this.#load());
    session.addEventListener("open", () => this.#mark());
    this.#build();
  }

  #build() {
    const { files } = this.#session;
    byId("strip").hidden = files.length < 2;
    if (files.length < 2) return;
    this.#buttons = files.map((name, index) => {
      const picture = element("canvas", { width: 1, height: 1, "aria-hidden": "true" });
      const onclick = () => this.open(index);
      const shown = fileName(name);
      const button = element("button", { type: "button", title: shown, onclick }, picture, element("span", {}, shown));
      button.dataset.index = index;
      this.#seen.observe(button);
      return button;
    });
    byId("pictures").replaceChildren(...this.#buttons);
    this.#mark();
  }

  /** Requests the thumbnails of buttons that are about to become visible. */
  #want(entries) {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      this.#seen.unobserve(target);
      this.#wanted.push(target);
    }
    this.#load();
  }

  /** Whether the page waits for nothing larger: also if the picture cannot be read or the filter refuses it. */
  get #isIdle() {
    return !this.#session.picture || this.#frames.refused || this.#frames.state === "true";
  }

  /** Loads thumbnails one by one, while nothing larger is pending. */
  async #load() {
    if (this.#loading) return;
    this.#loading = true;
    while (this.#wanted.length && this.#isIdle) await this.#show(this.#wanted.shift());
    this.#loading = false;
  }

  async #show(button) {
    try {
      const { pixels } = await this.#server.pixels("thumbnail", { index: button.dataset.index });
      const canvas = button.firstChild;
      Object.assign(canvas, { width: pixels.width, height: pixels.height });
      canvas.getContext("2d").putImageData(pixels, 0, 0);
    } catch (error) {
      if (!(error instanceof Refusal)) {
        this.#wanted.push(button);
        await new Promise((resolve) => setTimeout(resolve, pause));
        return;
      }
      button.title += `\n${error.message}`;
      button.firstChild.replaceWith(element("span", { className: "damaged", role: "img", "aria-label": "Cannot be read" }, "!"));
    }
  }

  #mark() {
    for (const [i, button] of this.#buttons.entries()) {
      if (i === this.#session.index) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    this.#buttons[this.#session.index]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Opens the picture `by` positions further. */
  step(by) {
    const index = this.#session.index + by;
    if (index >= 0 && index < this.#session.files.length) this.open(index);
  }

  async open(index) {
    await attempt("open", () => this.#session.open(index));
  }
}
