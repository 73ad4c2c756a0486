// Elements of the page.

export const byId = (id) => document.getElementById(id);

/** An element with properties, attributes (names with a hyphen, role, for) and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "for") made.setAttribute(name, value);
    else if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** An icon of those that index.html holds. */
function icon(name) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  const use = document.createElementNS(namespace, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

export function iconButton(name, label, onclick) {
  const told = { title: label, "aria-label": label };
  return element("button", { className: "icon", type: "button", ...told, onclick }, icon(name));
}

/** A text as the beginning of a line. */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A name as people read it: "Sharp range" for "sharp-range". */
export const words = (name) => capital(name).replaceAll("-", " ");

/** Fills the track of a slider up to its thumb. */
export function fill(slider) {
  const share = (slider.value - slider.min) / (slider.max - slider.min);
  slider.style.setProperty("--filled", `${100 * share}%`);
}

/** A function that calls `paint` before the next picture of the screen, once however often it is called until then. */
export function beforeNextFrame(paint) {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      paint();
    });
  };
}
