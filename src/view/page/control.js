// A control for a parameter, built from the parameter's record alone, and the scale of its slider.

import { baseName, element, fileName, fill, iconButton, words } from "./dom.js";

export const positions = 1000; // steps of a slider

const digits = 3;

/** Splits "1.5%" into its number and whether it is a percentage. */
export function partsOf(text) {
  const [, number, sign] = /^\s*(-?[\d.]+(?:e-?\d+)?)\s*(%?)\s*$/i.exec(text) ?? [null, "", ""];
  return { number: number === "" ? NaN : Number(number), percent: sign === "%" };
}

/** Rounds to three digits, or to an integer from 100 on. */
export function rounded(value) {
  if (Math.abs(value) >= 100) return Math.round(value);
  return Number(value.toPrecision(digits));
}

/** The curve of a slider over the range, as ParameterRecord::slider_value() has it. */
function curveOf({ scale }, low, high) {
  const range = high - low, start = low > 0 ? low : range / 100, end = Math.log1p(range / start);
  if (scale !== "logarithmic") return { to: (share) => low + range * share, from: (value) => (value - low) / range };
  return { to: (share) => low + start * Math.expm1(share * end), from: (value) => Math.log1p((value - low) / start) / end };
}

/**
 * Returns {position(value), value(position), next(value, direction)}. The slider covers the record's usual range, or up to
 * 10 percent of the longer side, and the current value.
 */
export function scaleOf(parameter, text) {
  const { number, percent } = partsOf(text);
  const { axis, odd } = parameter;
  let [low, high] = axis ? [axis.low, axis.high] : percent ? [0, 10] : parameter.usual;
  if (number > high) high = Math.min(percent ? 1000 : parameter.maximum ?? Infinity, 2 * number);
  if (number < low) low = number;
  const curve = axis ?? curveOf(parameter, low, high);
  const whole = parameter.whole && !percent;
  return {
    position: (value) => Math.round(positions * curve.from(Math.min(high, Math.max(low, value)))),
    value: (position) => {
      const value = curve.to(position / positions);
      if (axis) return Math.min(axis.high, Math.max(axis.low, axis.round(value)));
      if (!whole) return rounded(value);
      return odd ? 2 * Math.floor(value / 2) + 1 : Math.round(value);
    },
    next: (value, direction) => {
      if (whole) return value + direction * (odd ? 2 : 1);
      const step = 10 ** Math.floor(Math.log10(Math.max(1e-9, Math.abs(value) || (high - low) / 100)) - 1);
      return rounded(value + direction * step);
    },
  };
}

/** Makes the option of a word or a file, which is shown without its folder. */
const optionOf = (text) => element("option", { value: text, title: fileName(text) }, fileName(baseName(text)) || "auto");

const signs = { ArrowUp: 1, ArrowRight: 1, PageUp: 10, ArrowDown: -1, ArrowLeft: -1, PageDown: -10 };

/** Returns by how many percent of its range a key moves a slider: 1 by an arrow, 10 with the shift key or by a page key. */
export function percentOfKey({ key, shiftKey, ctrlKey, altKey, metaKey }) {
  const percent = ctrlKey || altKey || metaKey ? 0 : signs[key] ?? 0;
  return shiftKey && Math.abs(percent) === 1 ? 10 * percent : percent;
}

export const sliding = new Set(["number", "integer", "length"]);

/**
 * The control of a parameter: `value` returns its text, `found` what it is without one, `set(text, settled)` changes it
 * (`settled` at the end of a change), `longerSide` returns the longer side of the picture, `draw` activates the tool for
 * points and boxes on the picture, and `pick` asks for a file.
 */
export class Control {
  element;
  #field;
  #slider = null;
  #held = null;
  #unit = null;
  #message = element("p", { className: "wrong", hidden: true });

  constructor(record, { value, found = () => undefined, set, longerSide, draw, pick, prefix = "control-" }) {
    Object.assign(this, { record, value, found, set, longerSide });
    const id = prefix + record.name;
    this.#message.id = `${id}-message`;
    this.#field = this.#makeField(id);
    this.#field.id = id;
    this.#field.setAttribute("aria-description", record.help);
    const alternative = record.instead_of && record.group === "main";
    const label = element("label", { for: id }, words(alternative ? `or-${record.name}` : record.name));
    const row = { className: `control ${record.kind}`, "data-help": record.help };
    this.element = element("div", row, label, this.#field);
    this.#addUnit();
    if (sliding.has(record.kind)) this.#addSlider(id);
    if (sliding.has(record.kind) && record.choices?.length) this.#addWords(id);
    if (record.kind === "point" || record.kind === "box") this.#addDraw(draw);
    if (pick) this.#addPick(pick);
    this.element.append(this.#message);
    this.show();
  }

  /** Makes the field, which has the text in the syntax of the command. */
  #makeField(id) {
    const { kind, choices } = this.record;
    if (kind === "flag") {
      const onchange = ({ target }) => this.set(String(target.checked), true);
      return element("input", { type: "checkbox", role: "switch", onchange });
    }
    if (kind === "choice" || kind === "image") {
      const options = (choices ?? []).map(optionOf);
      if (!this.record.default) options.unshift(element("option", { value: "" }, kind === "image" ? "none" : "auto"));
      return element("select", { onchange: ({ target }) => this.set(target.value, true) }, ...options);
    }
    const field = element("input", {
      type: kind === "colour" ? "color" : "text", spellcheck: false, autocomplete: "off",
      oninput: () => this.set(field.value.trim(), false), onchange: () => this.set(field.value.trim(), true),
      onkeydown: (event) => this.#step(event), onblur: () => this.show(),
    });
    field.setAttribute("aria-describedby", `${id}-message`);
    return field;
  }

  /** Adds the unit. For lengths it is a button that switches between pixels and percent of the longer side. */
  #addUnit() {
    const { kind, unit } = this.record;
    if (kind !== "length") {
      const short = unit === "degrees" ? "°" : unit;
      if (short && sliding.has(kind)) this.element.append(element("span", { className: "unit" }, short));
      return;
    }
    this.#unit = element("button", { type: "button", className: "unit", onclick: () => this.#exchangeUnit() });
    this.element.append(this.#unit);
  }

  #exchangeUnit() {
    const { number, percent } = partsOf(this.value());
    if (Number.isNaN(number)) return;
    const ratio = this.longerSide() / 100;
    this.set(percent ? String(rounded(number * ratio)) : `${rounded(number / ratio)}%`, true);
    this.show();
  }

  #addSlider(id) {
    const name = `${words(this.record.name)}, slider`;
    const range = { type: "range", min: 0, max: positions, value: 0 };
    this.#slider = element("input", { ...range, id: `slider-${id}`, "aria-label": name });
    const hold = (scale) => { this.#held = scale; };
    const listeners = {
      pointerdown: () => hold(this.#scale), pointerup: () => hold(null), pointercancel: () => hold(null),
      input: () => this.#slide(false), change: () => this.#slide(true), keydown: (event) => this.#nudge(event),
    };
    for (const [event, listener] of Object.entries(listeners)) this.#slider.addEventListener(event, listener);
    this.element.append(this.#slider);
  }

  #slide(settled) {
    const text = this.#scale.value(Number(this.#slider.value)) + (partsOf(this.value()).percent ? "%" : "");
    this.#field.value = text;
    this.set(text, settled);
    this.show();
  }

  /** Moves the slider by a key, whole numbers at least to the next one. */
  #nudge(event) {
    const percent = percentOfKey(event);
    if (!percent) return;
    event.preventDefault();
    const at = Number(this.#slider.value), value = this.#scale.value(at);
    this.#slider.value = at + (positions * percent) / 100;
    if (this.#scale.value(Number(this.#slider.value)) === value)
      this.#slider.value = this.#scale.position(this.#scale.next(value, Math.sign(percent)));
    this.#slide(true);
  }

  /** The scale of the slider, which does not change during a drag. */
  get #scale() {
    return this.#held ?? scaleOf(this.record, this.#inForce);
  }

  /** Offers the words that the field accepts besides numbers. */
  #addWords(id) {
    this.#field.setAttribute("list", `${id}-words`);
    this.element.append(element("datalist", { id: `${id}-words` }, ...this.record.choices.map(optionOf)));
  }

  #addDraw(draw) {
    const point = this.record.kind === "point";
    const label = point ? "Click the place in the picture" : "Draw boxes on the picture";
    const button = iconButton(point ? "place" : "box", label, () => draw(this.record, button));
    button.setAttribute("aria-pressed", "false");
    this.element.append(button);
  }

  #addPick(pick) {
    const { name } = this.record;
    const told = { type: "button", id: `pick-${name}`, "aria-label": `Choose a file for ${name}`, onclick: pick };
    this.element.append(element("button", told, "Choose…"));
  }

  /** Steps through numbers with the arrows up and down, ten steps with the shift key. */
  #step(event) {
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const { number, percent } = partsOf(this.#inForce || this.record.default || "0");
    if (!direction || !sliding.has(this.record.kind) || Number.isNaN(number)) return;
    event.preventDefault();
    let next = number;
    for (let i = 0; i < (event.shiftKey ? 10 : 1); ++i) next = this.#scale.next(next, direction);
    next = Math.min(this.record.maximum ?? Infinity, Math.max(this.record.minimum ?? -Infinity, next));
    this.set(`${next}${percent ? "%" : ""}`, true);
    this.#field.value = this.value();
    this.show();
  }

  /** What a run found for a parameter without a value or with a word; "" if it is set or nothing is known. */
  get #automatic() {
    const text = this.value(), { kind, choices } = this.record;
    const open = text === (this.record.default ?? "") || (sliding.has(kind) && choices?.includes(text));
    const found = open ? this.found() ?? "" : "";
    return String(typeof found === "number" ? rounded(found) : found);
  }

  /** The number in force as a text. */
  get #inForce() {
    const text = this.value();
    return Number.isNaN(partsOf(text).number) ? this.#automatic : text;
  }

  /** Shows the current text of the parameter, unless it is being typed. */
  show() {
    const text = this.value();
    const { kind } = this.record;
    if (kind === "flag") this.#field.checked = text === "true";
    else if (document.activeElement !== this.#field || kind === "colour") this.#showText(text);
    this.element.classList.toggle("set", text !== (this.record.default ?? ""));
    const { number, percent } = partsOf(this.#inForce);
    if (this.#unit) {
      this.#unit.textContent = percent ? "of side" : "px";
      this.#unit.title = percent ? "Percent of the longer side: change to pixels" : "Pixels: change to percent";
    }
    if (this.#slider) this.#showPosition(number, text);
  }

  /** Moves the slider, unless its position already means the number: several positions round to one number. */
  #showPosition(number, text) {
    const scale = this.#scale;
    this.#slider.classList.toggle("unset", !text);
    if (Number.isNaN(number)) this.#slider.value = 0;
    else if (scale.value(Number(this.#slider.value)) !== number) this.#slider.value = scale.position(number);
    this.#slider.setAttribute("aria-valuetext", text || this.#told);
    fill(this.#slider);
  }

  #showText(text) {
    const { kind } = this.record;
    if (this.#field.tagName === "SELECT" && ![...this.#field.options].some((option) => option.value === text)) {
      this.#field.append(optionOf(text));
    }
    this.#field.value = kind === "colour" ? text || "#000000" : text;
    if (this.#field.type === "text") this.#field.placeholder = kind === "box" ? "none" : this.#told;
    if (kind === "choice") for (const option of this.#field.options) {
      if (option.value === (this.record.default ?? "")) option.text = this.#automatic ? this.#told : option.value || "auto";
    }
  }

  /** What a field without a text says. */
  get #told() {
    return this.#automatic ? `${this.#automatic}, automatic` : "auto";
  }

  /** Shows an error about the text, or removes it. */
  refuse(message) {
    this.#field.setAttribute("aria-invalid", String(Boolean(message)));
    this.#message.textContent = message ?? "";
    this.#message.hidden = !message;
  }
}
