// Requests to the server of this page.

/**
 * The server understood a request but refuses it. `stale`: only because the settings have changed since. Errors that are
 * expected during work have status 200 and a field in the head, as browsers write all other statuses to the console.
 */
export class Refusal extends Error {
  constructor(status, stale, { error }) {
    super(error?.message ?? `The server answered ${status}.`);
    this.stale = stale;
    this.parameter = error?.parameter ?? null;
  }
}

/** The server cannot be reached, or has no time for the request. It may be repeated. */
export class Trouble extends Error {}

/** Returns the error for an answer that refuses. Refusals by the server itself, such as 503, are plain texts. */
function errorOf(answer, text) {
  try {
    return new Refusal(answer.status, answer.headers.get("X-Satin-State") === "stale", JSON.parse(text));
  } catch {
    return new Trouble(`satin view answers ${answer.status}: ${text.trim()}`);
  }
}

/** Dispatches "gone" when the server cannot be reached and "back" when it can again. */
export class Server extends EventTarget {
  #secret;
  #gone = false;

  /** `secret` is sent with every request. */
  constructor(secret) {
    super();
    this.#secret = secret;
  }

  /** Gets JSON. */
  async json(name, query = {}, signal = undefined) {
    return (await this.#ask(name, query, { signal }, "json")).body;
  }

  /** Posts JSON and returns the JSON of the answer. */
  async post(name, body, signal = undefined) {
    const headers = { "Content-Type": "application/json" };
    return (await this.#ask(name, {}, { method: "POST", headers, body: JSON.stringify(body), signal }, "json")).body;
  }

  /** Sends a file and returns the JSON of the answer. */
  async upload(file) {
    const headers = { "Content-Type": "application/octet-stream" };
    const extension = file.name.slice(file.name.lastIndexOf(".") + 1);
    return (await this.#ask("drop", { extension }, { method: "POST", headers, body: file }, "json")).body;
  }

  /** Gets raw RGBA: {pixels: ImageData, state, generation}. */
  async pixels(name, query, signal) {
    const { head, body } = await this.#ask(name, query, { signal }, "arrayBuffer");
    const bytes = new Uint8ClampedArray(body);
    const number = (field) => Number(head.get(field));
    return {
      pixels: new ImageData(bytes, number("X-Satin-Width"), number("X-Satin-Height"), { colorSpace: "srgb" }),
      state: head.get("X-Satin-State"),
      generation: number("X-Satin-Generation"),
    };
  }

  /** Returns the head and the whole body of an answer, read as "json" or "arrayBuffer". A truncated body is an error. */
  async #ask(name, query, options, kind) {
    const search = new URLSearchParams(query).toString();
    const headers = { ...options.headers, "X-Satin-Token": this.#secret };
    const always = { cache: "no-store", redirect: "error", credentials: "omit", headers };
    let answer, body, refusal;
    try {
      answer = await fetch(`/api/${name}${search && "?"}${search}`, { ...options, ...always });
      const state = answer.headers.get("X-Satin-State");
      const refused = !answer.ok || state === "refused" || state === "stale";
      body = await answer[refused ? "text" : kind]();
      if (refused) refusal = errorOf(answer, body);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.#tell(true);
      throw new Trouble("satin view cannot be reached.");
    }
    this.#tell(false);
    if (refusal) throw refusal;
    return { head: answer.headers, body };
  }

  #tell(gone) {
    if (gone === this.#gone) return;
    this.#gone = gone;
    this.dispatchEvent(new Event(gone ? "gone" : "back"));
  }
}
