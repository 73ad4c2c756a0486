// Requests to the server that this page came from.

/**
 * The server understood a request and refuses it. `stale`: only because the settings have changed meanwhile. What
 * may happen in the course of work has status 200 and says so in its head, as browsers write other ones to the console.
 */
export class Refusal extends Error {
  constructor(status, stale, { error }) {
    super(error?.message ?? `The server answered ${status}.`);
    this.stale = stale;
    this.parameter = error?.parameter ?? null;
  }
}

/** The server cannot be reached. */
class Gone extends Error {}

/** The JSON of a refusal; those of the server itself, before the session, are plain texts. */
function contentOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Dispatches "gone" and "back" as the server goes and comes. */
export class Server extends EventTarget {
  #header = "";
  #gone = false;

  /** The session that the page needs to start; every later POST repeats its header. */
  async session(signal) {
    const session = await this.json("session", {}, signal);
    this.#header = session.header;
    return session;
  }

  /** GET of JSON. */
  async json(name, query = {}, signal = undefined) {
    return (await this.#ask(name, query, { signal }, "json")).body;
  }

  /** POST of JSON, answered by JSON. */
  async post(name, body, signal = undefined) {
    const headers = { "Content-Type": "application/json", "X-Satin-Token": this.#header };
    return (await this.#ask(name, {}, { method: "POST", headers, body: JSON.stringify(body), signal }, "json")).body;
  }

  /** GET of raw RGBA: {pixels: ImageData, state, generation}. */
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

  /** The answer's head and its whole body, read as "json" or "arrayBuffer". A body that breaks off is no answer. */
  async #ask(name, query, options, kind) {
    const search = new URLSearchParams(query).toString();
    const always = { cache: "no-store", redirect: "error" };
    let answer, body, refusal;
    try {
      answer = await fetch(`/api/${name}${search && "?"}${search}`, { ...always, ...options });
      const state = answer.headers.get("X-Satin-State");
      const refused = !answer.ok || state === "refused" || state === "stale";
      body = await answer[refused ? "text" : kind]();
      if (refused) refusal = new Refusal(answer.status, state === "stale", contentOf(body));
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.#tell(true);
      throw new Gone("The server cannot be reached.");
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
