// Frames from the server: the newest wish wins, and older requests are cancelled.

import { Refusal } from "./server.js";

/**
 * Milliseconds after which a frame of a drag is cancelled for a newer one. Before that it is still worth showing. At least
 * every second one is awaited, or a long drag would show none.
 */
const patience = 400;
const pause = 1000; // milliseconds before a request that failed is repeated

/** Milliseconds before true pixels are requested: the server computes none before, and a drag would only cancel the request. */
const rest = 100;

/** Waits, or throws as soon as the signal aborts. */
function wait(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

const same = (a, b) => a.x === b.x && a.y === b.y && a.zoom === b.zoom && a.width === b.width && a.height === b.height;

/**
 * Keeps the frame of the result and that of the picture before. At most one request is pending: settings first, then the
 * quickest frame, then the true one. Dispatches "frame" for every new frame and "state" when another one is wanted.
 */
export class Frames extends EventTarget {
  after = null;
  before = null;
  /** The last frame that showed the whole picture. */
  whole = null;
  #server;
  #session;
  #viewport;
  #wantsBefore = false;
  #working = false;
  #request = null;
  #gaveUp = false;
  #failed = false;
  #refused = "";
  /** Why the server has not answered the last request, or "". Another request follows soon. */
  trouble = "";

  constructor(server, session, viewport) {
    super();
    this.#server = server;
    this.#session = session;
    this.#viewport = viewport;
    for (const event of ["values", "pipeline", "overlay", "answer"]) {
      session.addEventListener(event, () => this.renew());
    }
    session.addEventListener("waiting", () => (session.waiting ? this.#request?.control.abort() : this.renew()));
    session.addEventListener("open", () => this.#forget());
    viewport.addEventListener("move", () => this.renew());
    server.addEventListener("back", () => this.#forget());
  }

  /** Sets whether the picture before is shown as well. */
  set wantsBefore(wants) {
    this.#wantsBefore = wants;
    this.renew();
  }

  /** "busy" until a frame of the current settings and position is there, then "preview" or "true". */
  get state() {
    if (!this.#isCurrent(this.after) || this.#session.dirty) return "busy";
    return this.#wantsBefore && !this.#isCurrentBefore ? "busy" : this.after.state;
  }

  /** Whether the filter refuses the settings. The picture before is shown then. */
  get refused() {
    return this.#refused === this.#key;
  }

  /** Requests missing frames, also after a failure. */
  renew() {
    this.#failed = false;
    this.#giveUp();
    this.dispatchEvent(new Event("state"));
    this.#work();
  }

  /** Cancels a request for true pixels at once, others if they are late. */
  #giveUp() {
    const request = this.#request;
    const late = request && !this.#gaveUp && performance.now() - request.since > patience;
    if (!late && !request?.slow) return;
    this.#gaveUp ||= late;
    request.control.abort();
  }

  /** Forgets all frames. They stay on the canvas until others arrive, unless there is no picture. */
  #forget() {
    this.after = this.before = this.whole = null;
    if (!this.#session.picture) this.dispatchEvent(new Event("frame"));
    this.renew();
  }

  /**
   * Fetches until nothing is missing. The check for missing frames and the end of the loop are one step without `await`
   * between them: a wish between the two would find the loop running and wait for ever.
   */
  async #work() {
    if (this.#working) return;
    this.#working = true;
    for (let wish = this.#wish; wish; wish = this.#wish) await this.#fulfil(wish);
    this.#working = false;
  }

  /** The next request: unsent settings, then a missing frame. Null if there is none, or the server failed. */
  get #wish() {
    if (this.#failed || this.#session.waiting) return null;
    return this.#session.dirty ? { send: true } : this.#missing();
  }

  /** Performs one request. Throws nothing, or the loop would end while marked as running. */
  async #fulfil(wish) {
    const control = new AbortController();
    const key = this.#key;
    this.#request = { control, slow: wish.exact && !wish.before, since: performance.now() };
    try {
      if (wish.send) await this.#session.send(control.signal);
      else await this.#fetch(wish, control.signal);
      this.#gaveUp &&= control.signal.aborted;
      this.#tell("");
    } catch (error) {
      await this.#after(error, wish, key);
    } finally {
      this.#request = null;
    }
  }

  #tell(trouble) {
    if (trouble === this.trouble) return;
    this.trouble = trouble;
    this.dispatchEvent(new Event("state"));
  }

  /** Handles an error. `key` belongs to the request: the overlay may have changed since. */
  async #after(error, wish, key) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Refusal)) {
      this.#failed = true;
      this.#tell(error.message);
      setTimeout(() => this.renew(), pause);
      return;
    }
    if (error.stale) {
      await this.#session.adopt();
      return;
    }
    this.#refused = key;
    this.#session.refuse(error);
    this.dispatchEvent(new Event("frame"));
    this.#failed = wish.before;
  }

  get #key() {
    return `${this.#session.generation} ${this.#session.overlay}`;
  }

  get #place() {
    const { x, y, zoom, width, height } = this.#viewport;
    return { x, y, zoom, width, height };
  }

  #isCurrent(frame) {
    return Boolean(frame) && same(frame, this.#viewport) && frame.key === this.#key;
  }

  get #isCurrentBefore() {
    return Boolean(this.before) && same(this.before, this.#viewport);
  }

  /** The next frame to request, or null. */
  #missing() {
    if (!this.#session.picture || !this.#viewport.width) return null;
    const { refused } = this;
    if (!refused && !this.#isCurrent(this.after)) return { exact: false, before: false };
    if ((this.#wantsBefore || refused) && !this.#isCurrentBefore) return { exact: true, before: true };
    if (!refused && this.after.state !== "true") return { exact: true, before: false };
    return null;
  }

  async #fetch({ exact, before }, signal) {
    const place = this.#place;
    const { generation, overlay } = this.#session;
    const flag = (value) => (value ? 1 : 0);
    const query = { generation, ...place, overlay: before ? "" : overlay, before: flag(before), exact: flag(exact) };
    const key = this.#key;
    if (exact && !before) await wait(rest, signal);
    const frame = { ...place, key, ...(await this.#server.pixels("view", query, signal)) };
    if (before) this.before = frame;
    else this.#show(frame);
    this.dispatchEvent(new Event("frame"));
  }

  #show(frame) {
    this.after = frame;
    const { picture } = this.#viewport;
    const whole = frame.x <= 0 && frame.y <= 0 && frame.width / frame.zoom + frame.x >= picture.width &&
      frame.height / frame.zoom + frame.y >= picture.height;
    if (whole || this.whole?.key !== frame.key) this.whole = whole ? frame : null;
  }
}
