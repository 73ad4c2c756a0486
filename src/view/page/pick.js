// Pictures that a filter reads besides the open one: chosen from the files beside it or from the disk, or dropped on the
// page. What to do when a filter lacks its depth.

import { ask, attempt, baseName, byId, element, fileName, notice, takeBack, words } from "./dom.js";

const longest = 256 * 2 ** 20; // bytes of a file that the server receives

/** Sorts likely names to the front, such as "king-depth.png" for the depth of "king.jpg". */
function likelyFirst(names, wanted, picture) {
  const stem = picture.replace(/\.[^.]*$/, "");
  const rank = (name) => name.toLowerCase().includes(wanted) + 2 * name.startsWith(stem);
  return [...names].sort((a, b) => rank(b) - rank(a));
}

export class Picker {
  #server;
  #session;
  #offer;
  #ownDepth;
  #estimate;
  #row;

  constructor(server, session) {
    this.#server = server;
    this.#session = session;
    const button = (id, text, onclick) => element("button", { type: "button", id, onclick }, text);
    this.#ownDepth = button("own-depth", "The photograph's own depth", () => this.#set("depth-from", "photo"));
    this.#estimate = button("estimate-depth", "Estimate depth", () => this.#set("depth-from", "model"));
    const text = "How far away is every pixel? Choose a picture of the depth, drop one on the page, or use";
    this.#offer = element("div", { className: "offer" }, element("p", {}, text), this.#ownDepth, this.#estimate,
      button("no-depth", "Tilt-shift, which needs no depth", () => this.#replace("tilt-shift")));
    byId("pick-mask").onclick = () => this.choose("mask");
    addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
    addEventListener("drop", (event) => this.#drop(event));
    for (const event of ["values", "pipeline", "open"]) session.addEventListener(event, () => this.#show());
  }

  /** The names of the pictures that the shown filter reads. */
  get #inputs() {
    return this.#session.filter?.parameters.filter(({ kind }) => kind === "image").map(({ name }) => name) ?? [];
  }

  /** Whether the shown filter needs a depth file and none is set. */
  get lacksDepth() {
    const values = this.#session.step?.values ?? {};
    return this.#inputs.includes("depth") && !values.depth && (values["depth-from"] ?? "image") === "image";
  }

  /** Puts the offer below the row of the depth. */
  place(row) {
    this.#row = row;
    row?.after(this.#offer);
    this.#show();
  }

  #show() {
    const { picture, step } = this.#session;
    this.#offer.hidden = !this.lacksDepth;
    this.#ownDepth.hidden = !picture?.has_depth;
    this.#estimate.hidden = !picture?.has_model;
    const noFile = this.#row?.querySelector("option[value='']");
    const source = step?.values["depth-from"] ?? "image";
    if (noFile) noFile.textContent = source === "image" ? "none" : `from ${source}`;
    byId("pick-depth")?.classList.toggle("primary", this.lacksDepth);
    const mask = step?.values.mask ?? "";
    byId("pick-mask").textContent = fileName(this.#session.dropped.get(mask) ?? baseName(mask)) || "File…";
  }

  /** Sets a value of the shown step, in the place of painted strokes or of another source of depth. */
  #set(name, value) {
    const { step } = this.#session;
    if (name === "mask") Object.assign(step, { strokes: [], inverted: false });
    if (name === "depth") delete step.values["depth-from"];
    step.values[name] = value;
    this.#session.change();
    this.#session.settle();
  }

  #replace(filter) {
    const { steps, active, step } = this.#session;
    steps[active] = { filter, values: {}, strokes: step.strokes };
    this.#session.change("pipeline");
    this.#session.settle();
  }

  /** Asks for a file and sets it as the input of this name. */
  async choose(name) {
    await attempt("pick", async () => {
      const { folder, files, count } = await this.#server.json("beside");
      const names = likelyFirst(files, name, this.#session.picture?.name ?? "");
      const buttons = names.map((file) => element("button", { value: `/${file}` }, fileName(file)));
      const disk = element("input", { type: "file", onchange: () => byId("dialog").close("disk") });
      const some = count > files.length ? `The first ${files.length} of ${count} pictures` : "Pictures";
      const text = count ? `${some} beside the open one:` : "There is no other picture beside the open one.";
      const answered = ask(`Choose the ${words(name).toLowerCase()}`, text, ["Cancel"],
        [element("div", { className: "files" }, ...buttons), element("label", {}, "From the disk", disk)]);
      (buttons[0] ?? disk).focus();
      const answer = await answered;
      if (answer.startsWith("/")) this.#use(name, folder + answer.slice(1));
      if (answer === "disk") await this.#send(name, disk.files[0]);
    });
  }

  async #drop(event) {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    const names = this.#inputs, labels = names.map(words);
    if (byId("dialog").open) return;
    const text = names.length ? "What is the dropped file?" : "The filter reads no other picture.";
    const answer = await ask(fileName(file.name), text, [...labels, "Cancel"]);
    const name = names[labels.indexOf(answer)];
    if (name) await attempt("pick", () => this.#send(name, file));
  }

  async #send(name, file) {
    const shown = fileName(file.name);
    if (file.size > longest) throw new Error(`${shown} has more than 256 MiB. Name it when satin view starts.`);
    await file.slice(0, 1).arrayBuffer().catch(() => { throw new Error(`${shown} cannot be read.`); });
    notice("pick", `Sending ${shown}.`);
    const { file: path } = await this.#server.upload(file);
    this.#session.dropped.set(path, file.name);
    this.#use(name, path);
    takeBack("pick");
  }

  /** Sets the input, unless another filter has been chosen meanwhile. */
  #use(name, path) {
    if (this.#inputs.includes(name)) this.#set(name, path);
  }
}
