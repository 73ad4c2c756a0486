// The parts of the page that keep results: the output, the command, and commands that set every control.

import { ask, byId, element, notice } from "./dom.js";

/** "out-2.jpg" for "folder/out.jpg". */
function otherName(path) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${name.slice(0, dot)}-2${name.slice(dot)}` : `${name}-2`;
}

/** The command in the clipboard where the browser has let the page read it before; empty otherwise. */
async function commandOfClipboard() {
  try {
    const { state } = await navigator.permissions.query({ name: "clipboard-read" });
    const text = state === "granted" ? await navigator.clipboard.readText() : "";
    return /^\s*satin\s/.test(text) ? text.trim() : "";
  } catch {
    return "";
  }
}

export class Keeping {
  #server;
  #session;

  constructor(server, session) {
    this.#server = server;
    this.#session = session;
    byId("save").onclick = () => this.save();
    byId("copy-command").onclick = () => this.#copy(session.command);
    byId("paste-command").onclick = () => this.#paste();
    byId("batch-command").onclick = () => this.#batch();
    for (const event of ["answer", "open"]) session.addEventListener(event, () => this.show());
    this.show();
  }

  show() {
    byId("command").textContent = this.#session.command;
    byId("save").disabled = !this.#session.picture;
  }

  /** Writes the output; a file that exists is replaced after a question only. */
  async save() {
    await this.#told(async () => {
      let name = null;
      let told = await this.#save(name, false);
      while (told.exists) {
        const field = element("input", { value: otherName(told.exists), "aria-label": "Another name" });
        const text = `${told.exists} exists. Another name is one beside the picture.`;
        const answer = await ask("Replace the file?", text, ["Save as", "Replace", "Cancel"], [field]);
        if (answer !== "Save as" && answer !== "Replace") return;
        if (answer === "Save as") name = field.value.trim();
        told = await this.#save(name, answer === "Replace");
      }
      const warnings = (told.warnings ?? []).map((warning) => ` ${warning}`).join("");
      notice("save", `Saved ${told.saved}.${warnings}`, { passing: !warnings });
      this.#session.saved(told.command);
    });
  }

  async #save(name, overwrite) {
    byId("save").setAttribute("aria-busy", "true");
    try {
      await this.#session.sent();
      return await this.#server.post("save", { name, overwrite });
    } finally {
      byId("save").removeAttribute("aria-busy");
    }
  }

  /** Browsers give the clipboard to pages of the same machine; on others the text is selected. */
  async #copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      notice("copy", "Copied.", { passing: true });
    } catch {
      getSelection().selectAllChildren(byId("command"));
      notice("copy", "The command is selected: copy it with Ctrl+C.", { passing: true });
    }
  }

  async #paste() {
    const text = (await commandOfClipboard()) || (await this.#askForCommand());
    if (!text) return;
    await this.#told(async () => {
      const error = await this.#session.paste(text);
      if (error) notice("paste", error.message, { wrong: true });
      else notice("paste", "Every control is set as the command says.", { passing: true });
    });
  }

  /** Asks for a command; empty if there is none. */
  async #askForCommand() {
    const field = element("textarea", { rows: 5, spellcheck: false, "aria-label": "Command" });
    const text = "Every control is set as the command says. The picture and the output stay.";
    const answer = await ask("Paste a command", text, ["Set", "Cancel"], [field]);
    return answer === "Set" ? field.value.trim() : "";
  }

  /** Every picture of the folder: Satin writes the list of names, the command does the rest. */
  async #batch() {
    await this.#told(async () => {
      const { list, command } = await this.#server.post("list", {});
      const answer = await ask("Every picture of the folder", `Their names are in ${list}.`, ["Copy command", "Close"],
        [element("pre", { tabIndex: 0 }, command)]);
      if (answer === "Copy command") await this.#copy(command);
    });
  }

  async #told(action) {
    try {
      await action();
    } catch (error) {
      notice("save", error.message, { wrong: true });
    }
  }
}
