// The pictures of a folder: a strip below the view. The settings go along from one to the next.

import { byId, element } from "./dom.js";
import { notice } from "./notices.js";

export class Strip {
  #server;
  #session;
  #buttons = [];
  #seen;

  constructor(server, session) {
    this.#server = server;
    this.#session = session;
    this.#seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) this.#load(entry.target);
    }, { root: byId("pictures"), rootMargin: "300px" });
    session.addEventListener("open", () => this.#show());
    this.#build();
  }

  #build() {
    const { files } = this.#session;
    byId("strip").hidden = files.length < 2;
    if (files.length < 2) return;
    this.#buttons = files.map((name, index) => {
      const picture = element("canvas", { width: 1, height: 1, "aria-hidden": "true" });
      const onclick = () => this.open(index);
      const button = element("button", { type: "button", title: name, onclick }, picture, element("span", {}, name));
      button.dataset.index = index;
      this.#seen.observe(button);
      return button;
    });
    byId("pictures").replaceChildren(...this.#buttons);
    this.#show();
  }

  /** The small picture of a button that is about to be seen. */
  async #load(button) {
    this.#seen.unobserve(button);
    try {
      const { pixels } = await this.#server.pixels("thumbnail", { index: button.dataset.index });
      const canvas = button.firstChild;
      Object.assign(canvas, { width: pixels.width, height: pixels.height });
      canvas.getContext("2d").putImageData(pixels, 0, 0);
    } catch {
      button.classList.add("nameless");
    }
  }

  #show() {
    for (const [i, button] of this.#buttons.entries()) {
      if (i === this.#session.index) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    this.#buttons[this.#session.index]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** The next picture, or the one before. */
  step(by) {
    const index = this.#session.index + by;
    if (index >= 0 && index < this.#session.files.length) this.open(index);
  }

  async open(index) {
    try {
      await this.#session.open(index);
    } catch (error) {
      notice("open", error.message, { wrong: true });
    }
  }
}
