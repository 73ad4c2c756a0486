// The state that the server and the page share: the picture, the records of the filters, the pipeline and its command.
// Undo and redo are part of it.

import { commandOf } from "./command.js";
import { Refusal } from "./server.js";

const most = 500; // states kept

class History {
  #states;
  #place = 0;

  constructor(state) {
    this.#states = [state];
  }

  get canUndo() {
    return this.#place > 0;
  }

  get canRedo() {
    return this.#place + 1 < this.#states.length;
  }

  /** The initial state. */
  get first() {
    return this.#states[0];
  }

  /** Adds a state, unless it equals the current one, and drops states that could be redone. */
  add(state) {
    if (state === this.#states[this.#place]) return;
    this.#states.splice(this.#place + 1, Infinity, state);
    if (this.#states.length > most) this.#states.splice(1, 1);
    this.#place = this.#states.length - 1;
  }

  /** Replaces a text in every state. */
  replace(text, by) {
    this.#states = this.#states.map((state) => state.replaceAll(text, () => by));
  }

  undo() {
    return this.#states[(this.#place -= 1)];
  }

  redo() {
    return this.#states[(this.#place += 1)];
  }
}

const rest = 600; // milliseconds without a change that end one

/** Whether two parameters exclude each other. */
const areRivals = (one, other) => one.instead_of === other.name || other.instead_of === one.name;

/** Whether the mask of a step is a file that the server makes: from strokes, or the inverse of another mask. */
const isPainted = ({ strokes, inverted, values }) => strokes.length > 0 || Boolean(inverted && values.mask);

/** Returns the request for that mask. Strokes are painted on the mask `below`. */
const paintingOf = ({ strokes, inverted, values }) => ({ strokes, inverted: Boolean(inverted), below: values.mask ?? "" });

/** Returns a text of the painting as it was when the last stroke began. */
function beginOf(painting) {
  const strokes = painting.strokes.map((stroke, i, { length }) =>
    (i + 1 < length ? stroke : { ...stroke, points: stroke.points.slice(0, 1) }));
  return JSON.stringify({ ...painting, strokes });
}

/**
 * The pipeline as set on the page. Call `change` for every step of a drag and `settle` at its end, for undo. Dispatches
 * "open" for another picture, "pipeline" for other steps, "values" for other values and "answer" when the server has
 * received them.
 */
export class Session extends EventTarget {
  steps = [];
  active = 0;
  overlay = "";
  generation = 0;
  /** The names of dropped files on the user's disk. */
  dropped = new Map();
  command = "";
  error = null;
  /** Whether a request is pending that changes the generation: requests for pixels would be refused. */
  waiting = false;
  #server;
  #history;
  #line = { files: "", kept: "", unkept: [] };
  #histories = new Map(); // by the index of a picture
  #painted = [];
  #found = [];
  #resting = 0;
  #dragging = false;
  #dirty = false;
  #sending = false;
  #lost = null;

  constructor(server, told) {
    super();
    this.#server = server;
    this.#open(told);
    this.#remember();
  }

  /** Uses the history of the open picture, to which its settings are added. */
  #remember() {
    this.#history = this.#histories.get(this.index) ?? new History(this.#state);
    this.#histories.set(this.index, this.#history);
    this.#history.add(this.#state);
  }

  #open(told) {
    this.picture = told.picture;
    this.files = told.files ?? [];
    this.index = told.index ?? 0;
    this.filters = new Map(told.filters.map((filter) => [filter.name, filter]));
    this.#painted = [];
    this.#found = [];
    this.#take(told, told.paintings);
  }

  /** Adopts the settings of the server, and the strokes of masks that this page has not painted itself. */
  #take(told, paintings = []) {
    this.#answered(told);
    const known = this.steps.map((step) => (isPainted(step) ? paintingOf(step) : null));
    for (const { step, mask, strokes, inverted = false, below = "" } of paintings) {
      known[step] = { strokes, inverted, below };
      this.#painted[step] = { text: JSON.stringify(known[step]), mask };
    }
    if (!told.settings || this.error) return;
    const before = this.#state;
    this.steps = told.settings.steps.map(({ filter, values: { mask, ...values } }, i) => {
      const painting = mask && mask === this.#painted[i]?.mask ? known[i] : null;
      const { below, ...painted } = painting ?? { below: mask, strokes: [], inverted: false };
      if (below) values.mask = below;
      return { filter, values, ...painted };
    });
    this.active = Math.max(0, Math.min(this.active, this.steps.length - 1));
    if (before !== this.#state) this.dispatchEvent(new Event("pipeline"));
  }

  /** The step whose controls are shown. */
  get step() {
    return this.steps[this.active];
  }

  /** The record of the filter of that step. */
  get filter() {
    return this.step && this.filters.get(this.step.filter);
  }

  /** Dropped files that the command names and that end with the session. */
  get unkept() {
    return this.#line.unkept;
  }

  /** The parameters of that filter in the order for people. */
  get parameters() {
    return [...(this.filter?.parameters ?? [])].sort((one, other) => one.rank - other.rank);
  }

  get dirty() {
    return this.#dirty;
  }

  /** Returns the text of a parameter of the shown step, or "" if it is not set and has no default. */
  value(parameter) {
    return this.step.values[parameter.name] ?? parameter.default ?? "";
  }

  /**
   * Returns what a parameter of the shown step is if it is not set: a text, a number that a run found, or undefined. Numbers
   * whether a choice is "on" have "is_" before their name.
   */
  found({ name, kind }) {
    const known = this.#found[this.active];
    if (!known || known.filter !== this.step?.filter) return undefined;
    if (kind === "choice" && known[`is_${name}`] !== undefined) return known[`is_${name}`] ? "on" : "off";
    return known[name.replaceAll("-", "_")] ?? known[name];
  }

  /** Records what a run found, by parameter, for every step. */
  find(found) {
    this.#found = found.map((values, i) => ({ ...values, filter: this.steps[i]?.filter }));
    this.dispatchEvent(new Event("found"));
  }

  /** Sets a parameter of the shown step and removes its rivals. An empty text and the default remove it. */
  set(parameter, text) {
    this.setAll([[parameter, text]]);
  }

  /** Sets several parameters, given as [parameter, text]. */
  setAll(texts) {
    const { values } = this.step;
    for (const [parameter, text] of texts) {
      for (const other of this.filter.parameters) if (areRivals(parameter, other)) delete values[other.name];
      if (text === "" || text === (parameter.default ?? "")) delete values[parameter.name];
      else values[parameter.name] = text;
    }
    this.change();
  }

  /** Announces changes until `settle`, possibly with pauses. */
  begin() {
    this.#dragging = true;
    clearTimeout(this.#resting);
  }

  /** Announces that the settings have changed. */
  change(event = "values") {
    this.#dirty = true;
    clearTimeout(this.#resting);
    if (!this.#dragging) this.#resting = setTimeout(() => this.settle(), rest);
    this.dispatchEvent(new Event(event));
  }

  /** Saves the current settings as a state for undo. */
  settle() {
    this.#dragging = false;
    clearTimeout(this.#resting);
    this.#history.add(this.#state);
    this.dispatchEvent(new Event("settled"));
  }

  get canUndo() {
    return this.#history.canUndo;
  }

  get canRedo() {
    return this.#history.canRedo;
  }

  get canReset() {
    return this.#state !== this.#history.first;
  }

  undo() {
    this.settle();
    if (this.canUndo) this.#restore(this.#history.undo());
  }

  redo() {
    if (this.canRedo) this.#restore(this.#history.redo());
  }

  reset() {
    this.#restore(this.#history.first);
    this.settle();
  }

  /** The settings as a text that does not depend on the order in which they were set. */
  get #state() {
    const sorted = (values) => Object.fromEntries(Object.entries(values).sort());
    return JSON.stringify(this.steps.map((step) =>
      ({ ...step, values: sorted(step.values), inverted: isPainted(step) && Boolean(step.inverted) })));
  }

  #restore(state) {
    this.steps = JSON.parse(state);
    this.active = Math.max(0, Math.min(this.active, this.steps.length - 1));
    this.change("pipeline");
    clearTimeout(this.#resting);
    this.dispatchEvent(new Event("settled"));
  }

  /** Shows the overlay of this name, or none. */
  show(overlay) {
    this.overlay = overlay;
    this.dispatchEvent(new Event("overlay"));
  }

  /** Sends the settings. A change meanwhile makes them dirty again, and so does a request without an answer. */
  async send(signal) {
    const steps = [...this.steps];
    this.#dirty = false;
    this.#sending = true;
    this.#lost = null;
    try {
      this.#answered(await this.#server.post("settings", { steps: this.#sent }, signal));
      if (!this.error) await this.#sendPaintings(steps, signal);
    } catch (error) {
      if (error instanceof Refusal) {
        this.error = error;
      } else {
        this.#dirty = true;
        if (error.name !== "AbortError") {
          this.#lost = error;
          this.command = commandOf(this.#sent, this.filters, this.#line);
        }
      }
    } finally {
      this.#sending = false;
    }
    this.dispatchEvent(new Event("answer"));
    if (this.#lost) throw this.#lost;
  }

  /** Records that the filter refuses the settings. */
  refuse(error) {
    this.error = error;
    this.dispatchEvent(new Event("answer"));
  }

  /** The steps as sent to the server: strokes are replaced by the name of their mask. */
  get #sent() {
    return this.steps.map((step, i) => {
      const { filter, values } = step;
      const mask = isPainted(step) ? this.#painted[i]?.mask : undefined;
      return { filter, values: mask ? { ...values, mask } : values };
    });
  }

  /** Sends new strokes. Until the answer arrives it is unknown which strokes the mask of the server has. */
  async #sendPaintings(steps, signal) {
    for (const [i, step] of steps.entries()) {
      const painting = paintingOf(step), text = JSON.stringify(painting);
      if (!isPainted(step) || text === this.#painted[i]?.text) continue;
      const begun = beginOf(painting), continued = begun === this.#painted[i]?.begun;
      this.#painted[i] = { text: "", mask: this.#painted[i]?.mask, begun };
      const told = await this.#server.post("mask", { ...painting, step: i, continued }, signal);
      this.#painted[i] = { text, mask: told.mask, begun };
      this.#answered(told);
    }
  }

  #answered(told) {
    this.generation = told.generation;
    this.command = told.command;
    this.#line = told.line;
    this.error = told.error ?? null;
    this.usesLight = told.uses_light ?? false;
  }

  /**
   * Adopts the settings of the server, which another page of the session has changed. Changes of this page that are not
   * sent yet stay, and win. A failure is left to the next request.
   */
  async adopt() {
    if (this.#dirty || this.#sending) return;
    try {
      await this.#ask(() => this.#server.json("session"), (told) => {
        if (told.index !== this.index) return this.#openOther(told);
        this.#take(told, told.paintings);
        this.#history.add(this.#state);
      });
    } catch (error) {
      if (error instanceof Refusal) throw error;
    }
    this.dispatchEvent(new Event("answer"));
  }

  /** Sets the pipeline from a command line. */
  async paste(text) {
    await this.#ask(() => this.#server.post("command", { text }), (told) => this.#take(told));
    if (!this.error) this.settle();
    this.dispatchEvent(new Event("answer"));
    return this.error;
  }

  /** Keeps a dropped file under a name beside the picture, also in states to undo, unless the answer says that it exists. */
  async keep(file, name, overwrite) {
    let answer;
    await this.#ask(() => this.#server.post("keep", { file, name, overwrite }), (told) => {
      answer = told;
      if (!told.kept) return;
      for (const history of this.#histories.values()) history.replace(JSON.stringify(file), JSON.stringify(told.kept));
      this.#take(told);
    });
    this.dispatchEvent(new Event("answer"));
    return answer;
  }

  /** Requests a change of the generation, and adopts the answer before pixels are requested again. */
  async #ask(request, take) {
    const wait = (waiting) => {
      this.waiting = waiting;
      this.dispatchEvent(new Event("waiting"));
    };
    wait(true);
    try {
      take(await request());
    } finally {
      wait(false);
    }
  }

  /** Resolves when the server has the settings; throws if it cannot be reached. */
  async sent() {
    while (this.#dirty || this.#sending) {
      if (this.#lost) throw this.#lost;
      await new Promise((resolve) => this.addEventListener("answer", resolve, { once: true }));
    }
  }

  /** Sets the command after a save under another name. */
  saved({ command, line }) {
    this.command = command;
    this.#line = line;
    this.dispatchEvent(new Event("answer"));
  }

  /** Opens another picture of the folder, with the settings of this one. */
  async open(index) {
    await this.sent();
    await this.#ask(() => this.#server.post("open", { index }), (told) => this.#openOther(told));
  }

  #openOther(told) {
    this.#open(told);
    this.#remember();
    this.dispatchEvent(new Event("open"));
  }
}
