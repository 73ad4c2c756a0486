// Elements of the page, messages above the picture, and dialogs.

export const byId = (id) => document.getElementById(id);

/** Makes an element with properties, attributes (names with a hyphen, role, for) and children. */
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

/** Makes an element of SVG. */
export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Makes a button with a symbol of index.html. */
export function iconButton(name, label, onclick) {
  const told = { title: label, "aria-label": label };
  const icon = shape("svg", {}, shape("use", { href: `#icon-${name}` }));
  return element("button", { className: "icon", type: "button", ...told, onclick }, icon);
}

/** Capitalises the first letter. */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns a file's name with characters that change the direction of writing as escapes: it might look like another. */
export const fileName = (name) => name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Returns the name of a file without its folder. */
export const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

/** Returns a readable name: "Sharp range" for "sharp-range". */
export const words = (name) => capital(name).replaceAll("-", " ");

/** Fills the track of a slider up to its thumb. */
export function fill(slider) {
  const share = (slider.value - slider.min) / (slider.max - slider.min);
  slider.style.setProperty("--filled", `${100 * share}%`);
}

/** Returns a function that calls `paint` once before the next frame of the screen, however often it is called until then. */
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

const shown = new Map(); // one message for each subject
const brief = 6000; // milliseconds

/** Shows a message until it is replaced, removed or closed. `passing` messages disappear by themselves. */
export function notice(subject, text, { wrong = false, passing = false, action = null } = {}) {
  takeBack(subject);
  const line = element("div", { className: wrong ? "notice wrong" : "notice" }, element("p", {}, text));
  if (action) line.append(element("button", { type: "button", onclick: action.run }, action.name));
  line.append(iconButton("remove", "Close", () => takeBack(subject)));
  const timer = passing ? setTimeout(() => takeBack(subject), brief) : 0;
  shown.set(subject, { line, timer });
  byId("notices").append(line);
}

/** Runs an action. An error becomes a message about the subject. */
export async function attempt(subject, action) {
  try {
    await action();
  } catch (error) {
    notice(subject, error.message, { wrong: true });
  }
}

export function takeBack(subject) {
  const former = shown.get(subject);
  if (!former) return;
  clearTimeout(former.timer);
  former.line.remove();
  shown.delete(subject);
}

/**
 * Opens a dialog and resolves to the name of the chosen answer, or "" if the dialog is closed. The first of `answers` is the
 * default, for the key Enter. `body` are elements between the text and the answers.
 */
export function ask(title, text, answers, body = []) {
  const dialog = byId("dialog");
  const [heading, paragraph] = dialog.querySelectorAll("h2, p");
  heading.textContent = title;
  paragraph.textContent = text;
  paragraph.hidden = !text;
  dialog.querySelector(".body").replaceChildren(...body);
  const button = (name, i) => element("button", { value: name, className: i ? "" : "primary" }, name);
  dialog.querySelector(".answers").replaceChildren(...answers.map(button));
  dialog.returnValue = "";
  dialog.showModal();
  (body.find((each) => each.matches("input, textarea")) ?? dialog.querySelector(".answers button")).focus();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true }));
}
