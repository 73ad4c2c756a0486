// Depth on the page: the views of what a filter sees, with their legend, and the histogram at the focus.

import { percentOfKey, positions, rounded } from "./control.js";
import { byId, element, shape } from "./dom.js";
import { Refusal } from "./server.js";

const buttons = { depth: "depth-view", coc: "overlay-coc", groups: "overlay-groups", hidden: "overlay-hidden" };
const tall = 100;

/** Returns the scale of the histogram: equal ways change the blur equally. */
function axisOf({ lowest, highest, inverse }) {
  const [low, high] = [lowest, highest].map((value) => Number(value.toPrecision(7)));
  const at = (value) => (inverse ? -1 / value : value);
  const span = at(high) - at(low) || 1;
  return {
    low, high, round: finer(high - low),
    from: (value) => (at(value) - at(low)) / span,
    to: (share) => at(at(low) + share * span),
  };
}

/** Returns a function that rounds to ten thousandths of a range, or to three digits if that is finer. */
function finer(range) {
  const digits = Math.max(0, 4 - Math.ceil(Math.log10(range || 1)));
  const off = (value, other) => Math.abs(other - value);
  return (value) => {
    const [even, short] = [Number(value.toFixed(Math.min(20, digits))), rounded(value)];
    return off(value, even) <= off(value, short) ? even : short;
  };
}

/** Asks what a run found, and shows it. */
export class Depth {
  #server;
  #session;
  #asked = "";
  #axis = null;
  #bars = shape("path", {});
  #sharp = shape("path", { class: "sharp" });
  #ends = [0, 1].map((end) => element("input", { type: "range", min: 0, max: positions, id: `sharp-${end ? "high" : "low"}` }));
  #box;

  constructor(server, session, canvas, frames) {
    this.#server = server;
    this.#session = session;
    canvas.element.addEventListener("painted", () => (frames.state === "true" || frames.refused) && this.#ask());
    session.addEventListener("open", () => { this.#asked = ""; });
    for (const event of ["pipeline", "open", "values", "found"]) session.addEventListener(event, () => this.#show());
    for (const event of ["pipeline", "open", "overlay", "found"]) session.addEventListener(event, () => this.#showView());
    for (const [overlay, id] of Object.entries(buttons)) {
      byId(id).onclick = () => session.show(session.overlay === overlay ? "" : overlay);
    }
    this.#makeHistogram();
    this.#showView();
  }

  #makeHistogram() {
    const graph = shape("svg", { viewBox: `0 0 1 ${tall}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    graph.append(this.#sharp, this.#bars);
    for (const [i, end] of this.#ends.entries()) {
      end.addEventListener("pointerdown", () => this.#session.begin());
      end.addEventListener("input", () => this.#move(i, Number(end.value)));
      end.addEventListener("change", () => this.#session.settle());
      end.addEventListener("keydown", (event) => {
        const percent = percentOfKey(event);
        if (!percent) return;
        event.preventDefault();
        this.#move(i, Number(end.value) + (positions * percent) / 100);
        this.#session.settle();
      });
    }
    const named = { id: "depth-histogram", role: "group", "aria-label": "Depth of the picture and its sharp range" };
    this.#box = element("div", named, graph, ...this.#ends, element("p", { className: "ends faint" }));
  }

  /** Asks once for every generation, when its frame is there. */
  async #ask() {
    const session = this.#session;
    const wish = `${session.generation} ${session.overlay}`;
    if (wish === this.#asked) return;
    this.#asked = wish;
    try {
      const found = await this.#server.json("found");
      if (found.generation === session.generation) this.#take(found);
    } catch (error) {
      if (!(error instanceof Refusal)) this.#asked = "";
    }
  }

  #take({ steps, depth }) {
    this.depth = depth;
    this.#axis = depth && axisOf(depth);
    this.#setAxes();
    if (depth) {
      const counts = depth.counts.map((count, i, all) => (all[i - 1] ?? count) + 2 * count + (all[i + 1] ?? count));
      const most = Math.max(...counts);
      const line = counts.map((count, i) => `L${(i + 0.5) / counts.length} ${tall * (1 - Math.sqrt(count / most))}`);
      this.#bars.setAttribute("d", `M0 ${tall}V${line[0].split(" ")[1]}${line.join("")}H1V${tall}Z`);
    }
    this.#session.find(steps);
  }

  /** Gives the sliders of focus and sharp range the range of the depth. */
  #setAxes() {
    const half = this.#axis && ((this.#axis.high - this.#axis.low) / 2 || 1);
    const range = this.#axis && { ...this.#axis, low: 0, high: half, from: (value) => value / half, to: (share) => share * half };
    for (const parameter of [...this.#session.filters.values()].flatMap(({ parameters }) => parameters)) {
      if (parameter.name === "focus") parameter.axis = this.#axis;
      if (parameter.name === "sharp-range") parameter.axis = range;
    }
  }

  #parameter(name) {
    return this.#session.filter?.parameters.find((parameter) => parameter.name === name);
  }

  /** The value in force, as a number. */
  #number(name) {
    const parameter = this.#parameter(name);
    const value = parseFloat(this.#session.value(parameter)); // NaN for none and for a word
    return Number.isNaN(value) ? Number(this.#session.found(parameter)) : value;
  }

  /** Puts the histogram above the slider of the focus, if that belongs to the depth, and shows the sharp range on it. */
  #show() {
    const parameter = this.#parameter("focus");
    const slider = byId("slider-control-focus");
    const shown = this.#axis && slider && this.#session.found(parameter) !== undefined;
    if (!shown) return this.#box.remove();
    if (slider.previousSibling !== this.#box) slider.before(this.#box);
    const { low, high, from } = this.#axis;
    const shares = this.#limits.map((value) => Math.min(1, Math.max(0, from(value))));
    this.#sharp.setAttribute("d", `M${shares[0]} 0V${tall}H${shares[1]}V0Z`);
    const sides = this.depth.near === "highest" ? ["Far", "Near"] : ["Near", "Far"];
    for (const [i, end] of this.#ends.entries()) {
      if (Math.abs(end.value / positions - shares[i]) > 0.5 / positions) end.value = positions * shares[i];
      end.ariaLabel = `${sides[i]} end of what is sharp`;
      end.ariaValueText = String(rounded(this.#limits[i]));
    }
    const told = [low, high].map((value, i) => element("span", {}, `${sides[i].toLowerCase()} ${rounded(value)}`));
    this.#box.querySelector(".ends").replaceChildren(...told);
  }

  /** The lowest and the highest value that is sharp. */
  get #limits() {
    const [focus, range] = ["focus", "sharp-range"].map((name) => this.#number(name) || 0);
    return [focus - range, focus + range];
  }

  /** Moves one end of the sharp range; the other one stays. */
  #move(i, position) {
    const { to, low, high, round } = this.#axis;
    const limits = this.#limits;
    const at = Math.min(high, Math.max(low, to(position / positions)));
    limits[i] = i ? Math.max(at, limits[0]) : Math.min(at, limits[1]);
    const middle = Math.min(high, Math.max(low, round((limits[0] + limits[1]) / 2)));
    const texts = { focus: String(middle), "sharp-range": String(round((limits[1] - limits[0]) / 2)) };
    this.#session.setAll(Object.entries(texts).map(([name, text]) => [this.#parameter(name), text]));
  }

  /** Shows which views the filter has, and the legend of the shown one. */
  #showView() {
    const { overlay, filter, picture } = this.#session;
    const known = filter?.overlays ?? [];
    byId("overlays").hidden = !known.length;
    for (const [name, id] of Object.entries(buttons)) {
      byId(id).hidden = !known.includes(name);
      byId(id).setAttribute("aria-pressed", String(overlay === name));
    }
    if (overlay && !known.includes(overlay)) this.#session.show("");
    const legend = byId("legend");
    legend.hidden = !overlay;
    legend.dataset.view = `${overlay}${picture?.channels < 3 && overlay !== "depth" ? " grey" : ""}`;
    const [before, after, note = ""] = this.#legend(overlay) ?? [];
    legend.querySelector(".before").textContent = before;
    legend.querySelector(".after").textContent = after;
    legend.querySelector(".note").textContent = note;
  }

  #legend(overlay) {
    const number = (name) => (this.#session.found({ name }) === undefined ? "" : rounded(this.#session.found({ name })));
    const blur = number("largest_radius") === "" ? "" : `${number("largest_radius")} px `;
    const at = (side) => (this.#axis ? ` ${rounded((this.depth.near === "highest") === (side === "near") ? this.#axis.high : this.#axis.low)}` : "");
    return {
      depth: [`far${at("far")}`, `near${at("near")}`, this.depth?.unknown ? "violet is unknown" : ""],
      coc: [`${blur}behind`, `${blur}in front`, "brighter is more blurred, black is sharp"],
      groups: ["near", "far", `${number("groups")} layers, each blurred as a whole`],
      hidden: ["", "", "Colours that are filled in behind nearer things"],
    }[overlay];
  }
}
