// Questions in front of the page.

import { byId, element } from "./dom.js";

/**
 * Asks, and resolves to the answer's name: "" when it is closed otherwise. The first of `answers` is the main one, what
 * the key Enter gives; `body` are elements between the text and the answers.
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
