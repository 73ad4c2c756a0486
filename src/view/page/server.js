// Requests to the server that this page came from.

/** The server understood a request and refuses it; `answer` is the JSON that it gave. */
export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.error?.message ?? `The server answered ${status}.`);
    this.status = status;
    this.answer = answer;
    this.parameter = answer.error?.parameter ?? null;
  }
}

/** The server cannot be reached. */
class Gone extends Error {}

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
    return (await this.#ask(name, query, { signal })).json();
  }

  /** POST of JSON, answered by JSON. */
  async post(name, body, signal = undefined) {
    const headers = { "Content-Type": "application/json", "X-Satin-Token": this.#header };
    return (await this.#ask(name, {}, { method: "POST", headers, body: JSON.stringify(body), signal })).json();
  }

  /** GET of raw RGBA: {pixels: ImageData, state, generation}. */
  async pixels(name, query, signal) {
    const answer = await this.#ask(name, query, { signal });
    const bytes = new Uint8ClampedArray(await answer.arrayBuffer());
    const number = (header) => Number(answer.headers.get(header));
    return {
      pixels: new ImageData(bytes, number("X-Satin-Width"), number("X-Satin-Height"), { colorSpace: "srgb" }),
      state: answer.headers.get("X-Satin-State"),
      generation: number("X-Satin-Generation"),
    };
  }

  async #ask(name, query, options) {
    const search = new URLSearchParams(query).toString();
    const always = { cache: "no-store", redirect: "error" };
    let answer;
    try {
      answer = await fetch(`/api/${name}${search && "?"}${search}`, { ...always, ...options });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.#tell(true);
      throw new Gone("The server cannot be reached.");
    }
    this.#tell(false);
    if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => ({})));
    return answer;
  }

  #tell(gone) {
    if (gone === this.#gone) return;
    this.#gone = gone;
    this.dispatchEvent(new Event(gone ? "gone" : "back"));
  }
}
