// Short messages above the picture, one for each subject.

import { byId, element, iconButton } from "./dom.js";

const shown = new Map();
const brief = 6000;

/** Shows a message until it is replaced, taken back or closed; `passing` ones go by themselves. */
export function notice(subject, text, { wrong = false, passing = false, action = null } = {}) {
  takeBack(subject);
  const line = element("div", { className: wrong ? "notice wrong" : "notice" }, element("p", {}, text));
  if (action) line.append(element("button", { type: "button", onclick: action.run }, action.name));
  line.append(iconButton("remove", "Close", () => takeBack(subject)));
  const timer = passing ? setTimeout(() => takeBack(subject), brief) : 0;
  shown.set(subject, { line, timer });
  byId("notices").append(line);
}

export function takeBack(subject) {
  const former = shown.get(subject);
  if (!former) return;
  clearTimeout(former.timer);
  former.line.remove();
  shown.delete(subject);
}
