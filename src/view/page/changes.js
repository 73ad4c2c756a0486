// Events outside the page: files that change on disk, how far a long picture is, and the server's end.

import { byId, notice, takeBack } from "./dom.js";

const pause = { busy: 250, idle: 2000 };

const told = {
  picture: "The picture has changed on disk.",
  depth: "The depth image has changed on disk.",
  output: "The output has been changed by another program.",
};

export class Changes {
  #server;
  #session;
  #frames;
  #known = "";

  constructor(server, session, frames) {
    this.#server = server;
    this.#session = session;
    this.#frames = frames;
    const ended = "satin view has ended. Start it again to go on; the command below is still right.";
    server.addEventListener("gone", () => notice("server", ended, { wrong: true }));
    server.addEventListener("back", () => takeBack("server"));
    this.#watch();
  }

  async #watch() {
    for (;;) {
      const busy = this.#frames.state !== "true" && !this.#frames.refused;
      await new Promise((resolve) => setTimeout(resolve, busy ? pause.busy : pause.idle));
      if (document.hidden) continue;
      try {
        this.#show(await this.#server.json("changes"));
      } catch {
        this.#showProgress(1);
      }
    }
  }

  #show({ changed, progress }) {
    this.#showProgress(this.#frames.state === "true" ? 1 : progress ?? 1);
    const known = changed.join(" ");
    if (known === this.#known) return;
    this.#known = known;
    takeBack("changes");
    if (!changed.length) return;
    const again = { name: "Read again", run: () => this.#readAgain() };
    const files = changed.some((name) => name !== "output");
    notice("changes", changed.map((name) => told[name] ?? name).join(" "), { action: files ? again : null });
  }

  async #readAgain() {
    takeBack("changes");
    try {
      await this.#session.open(this.#session.index);
    } catch (error) {
      notice("changes", error.message, { wrong: true });
    }
  }

  #showProgress(share) {
    const state = byId("state");
    state.style.setProperty("--progress", share);
    state.classList.toggle("working", share > 0 && share < 1);
  }
}
