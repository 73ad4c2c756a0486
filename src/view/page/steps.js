// The pipeline: a list of steps, one of which is open and has a control for every parameter of its filter.

import { aperture } from "./aperture.js";
import { Control } from "./control.js";
import { byId, capital, element, iconButton, words } from "./dom.js";

/** Groups of parameters. All but the first are collapsed sections. */
const groups = ["main", "lens-shape", "more"];

export class Steps {
  #controls = new Map();
  #unfolded = new Set();
  #aperture = aperture();
  /** Settings of filters that were replaced by others. */
  #former = new Map();

  constructor(session, marks, picker) {
    Object.assign(this, { session, marks, picker });
    for (const event of ["pipeline", "open"]) session.addEventListener(event, () => this.#build());
    for (const event of ["values", "answer", "found"]) session.addEventListener(event, () => this.#show());
    this.#addFilters();
    this.#build();
  }

  /** Fills the list of filters that can be added. */
  #addFilters() {
    const select = byId("add-step");
    select.append(...this.#choices());
    select.onchange = () => {
      this.session.steps.push({ filter: select.value, values: {}, strokes: [] });
      this.session.active = this.session.steps.length - 1;
      select.value = "";
      this.#edited();
    };
  }

  #choices() {
    const groups = new Map();
    for (const { name, category, help } of this.session.filters.values()) {
      if (!groups.has(category)) groups.set(category, element("optgroup", { label: words(category) }));
      groups.get(category).append(element("option", { value: name, title: help }, name));
    }
    return [...groups.values()];
  }

  #edited() {
    this.session.change("pipeline");
    this.session.settle();
  }

  #build() {
    const { steps, active } = this.session;
    const item = (step, i) => (i === active ? this.#openStep(step, i) : this.#closedStep(step, i));
    byId("steps").replaceChildren(...steps.map(item));
    this.picker.place(this.#controls.get("depth")?.element);
    this.#show();
  }

  #closedStep({ filter }, i) {
    const open = () => {
      this.session.active = i;
      this.session.dispatchEvent(new Event("pipeline"));
    };
    const button = element("button", { type: "button", className: "name", onclick: open }, filter);
    return element("li", { className: "step" }, button);
  }

  #openStep(step, i) {
    const { steps } = this.session;
    const record = this.session.filters.get(step.filter);
    const select = element("select", { className: "name", "aria-label": "Filter of this step" }, ...this.#choices());
    select.value = step.filter;
    select.onchange = () => {
      this.#former.set(step.filter, step.values);
      steps[i] = { filter: select.value, values: { ...this.#former.get(select.value) }, strokes: [] };
      this.#edited();
    };
    const move = (to) => steps.splice(to, 0, ...steps.splice(i, 1));
    const moves = steps.length < 2 ? [] : [
      this.#button("up", "Earlier in the pipeline", i > 0, () => move(i - 1), i - 1),
      this.#button("down", "Later in the pipeline", i + 1 < steps.length, () => move(i + 1), i + 1),
      this.#button("remove", "Remove this step", true, () => steps.splice(i, 1), Math.max(0, i - 1)),
    ];
    return element("li", { className: "step open" }, element("div", { className: "head" }, select, ...moves),
      element("p", { className: "faint" }, capital(record?.help ?? "")), ...this.#makeControls());
  }

  #button(name, label, enabled, edit, active) {
    const button = iconButton(name, label, () => {
      edit();
      this.session.active = active;
      this.#edited();
    });
    button.disabled = !enabled;
    return button;
  }

  #makeControls() {
    this.#controls.clear();
    for (const parameter of this.session.parameters) this.#controls.set(parameter.name, this.#control(parameter));
    const controls = [...this.#controls.values()];
    return groups.flatMap((group) => {
      const elements = controls.filter(({ record }) => record.group === group).map((control) => control.element);
      return group === "main" || !elements.length ? elements : this.#fold(group, elements);
    });
  }

  #fold(group, elements) {
    const summary = element("summary", {}, words(group));
    if (group === "lens-shape") summary.append(this.#aperture.picture);
    const fold = element("details", { open: this.#unfolded.has(group) }, summary, ...elements);
    fold.ontoggle = () => this.#unfolded[fold.open ? "add" : "delete"](group);
    return fold;
  }

  #control(parameter) {
    const session = this.session;
    return new Control(parameter, {
      value: () => session.value(parameter),
      found: () => session.found(parameter),
      set: (text, settled) => {
        session.set(parameter, text);
        if (settled) session.settle();
      },
      longerSide: () => Math.max(session.picture?.width ?? 0, session.picture?.height ?? 0),
      draw: (record, button) => this.marks.arm(record, button),
      pick: parameter.kind === "image" && parameter.name !== "mask" ? () => this.picker.choose(parameter.name) : null,
    });
  }

  /** Updates the texts of the controls, and shows the error at its control. */
  #show() {
    const { error, step, parameters } = this.session;
    if (parameters.some(({ group }) => group === "lens-shape")) this.#aperture.draw(step, parameters);
    for (const [name, control] of this.#controls) {
      control.show();
      control.refuse(error?.parameter === name ? error.message : null);
      if (error?.parameter === name) control.element.closest("details")?.setAttribute("open", "");
    }
  }

  has(name) {
    return this.#controls.has(name);
  }
}
