// Results and files outside the page: saving, commands, files that change on the disk, progress, and the end of the server.

import { ask, attempt, baseName, byId, element, fileName, notice, takeBack } from "./dom.js";

/** Suggests another name: "out-2.jpg" for "folder/out.jpg". */
function otherName(path) {
  const name = baseName(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${name.slice(0, dot)}-2${name.slice(dot)}` : `${name}-2`;
}

/** Calls `write(name, overwrite)`, and asks before a file is replaced. Returns the answer, or null if nothing is written. */
async function writeUnlessExists(write, name) {
  let told = await write(name, false);
  while (told.exists) {
    const field = element("input", { value: otherName(told.exists), "aria-label": "Another name" });
    const led = told.leads_to ? ` It is a link that leads to ${fileName(told.leads_to)}.` : "";
    const text = `${fileName(told.exists)} exists.${led} Another name is one beside the picture.`;
    const answer = await ask("Replace the file?", text, ["Save as", "Replace", "Cancel"], [field]);
    if (answer !== "Save as" && answer !== "Replace") return null;
    if (answer === "Save as") name = field.value.trim();
    told = await write(name, answer === "Replace");
  }
  return told;
}

/** Returns the command in the clipboard, if the browser already allows the page to read it, or "". */
async function commandOfClipboard() {
  try {
    const { state } = await navigator.permissions.query({ name: "clipboard-read" });
    const text = state === "granted" ? await navigator.clipboard.readText() : "";
    return /^\s*satin\s/.test(text) ? text.trim() : "";
  } catch {
    return "";
  }
}

/** Saves results, copies commands, and pastes commands that set every control. */
export class Keeping {
  isSaving = false;
  #server;
  #session;

  constructor(server, session) {
    this.#server = server;
    this.#session = session;
    byId("save").onclick = () => this.save();
    byId("cancel").onclick = () => this.#told(() => server.post("cancel", {}));
    byId("copy-command").onclick = () => this.#copyCommand();
    byId("paste-command").onclick = () => this.#paste();
    byId("batch-command").onclick = () => this.#batch();
    for (const event of ["answer", "open"]) session.addEventListener(event, () => this.show());
    this.show();
  }

  show() {
    byId("command").textContent = this.#session.command;
    byId("save").disabled = !this.#session.picture || this.isSaving;
  }

  /** Writes the output. Asks before it replaces a file. */
  async save() {
    await this.#told(async () => {
      if (!(await this.#keepDropped())) return;
      const told = await writeUnlessExists((name, overwrite) => this.#save(name, overwrite), null);
      if (!told) return;
      const warnings = (told.warnings ?? []).map((warning) => ` ${warning}`).join("");
      notice("save", `Saved ${fileName(told.saved)}.${warnings}`, { passing: !warnings });
      this.#session.saved(told);
    });
  }

  /** After a refusal because another page has changed the settings: shows them, and writes nothing. */
  async #showOther() {
    await this.#session.adopt();
    notice("save", "Nothing was saved: another page has changed the settings. They are shown now.", { wrong: true });
  }

  async #save(name, overwrite) {
    this.#showSaving(true);
    try {
      await this.#session.sent();
      return await this.#server.post("save", { name, overwrite, generation: this.#session.generation });
    } finally {
      this.#showSaving(false);
    }
  }

  #showSaving(saving) {
    this.isSaving = saving;
    byId("saved").value = 0;
    byId("saving").hidden = !saving;
    this.show();
  }

  /** Asks where to keep the dropped files that the command names. Returns false if one is not kept. */
  async #keepDropped() {
    await this.#session.sent().catch(() => {}); // without the server the command of the page is still copied
    for (let [file] = this.#session.unkept; file; [file] = this.#session.unkept) {
      const field = element("input", { value: this.#session.dropped.get(file) ?? baseName(file), "aria-label": "Name" });
      const text = "The command reads a file that was dropped on the page. Under which name shall it stay beside the picture?";
      const answer = await ask("Keep the dropped file", text, ["Keep", "Cancel"], [field]);
      const keep = (name, overwrite) => this.#session.keep(file, name, overwrite);
      if (answer !== "Keep" || !(await writeUnlessExists(keep, field.value.trim()))) return false;
    }
    return true;
  }

  /** Copies the command. Its painted masks then stay when the session ends. */
  async #copyCommand() {
    await this.#told(async () => {
      if (!(await this.#keepDropped())) return;
      await this.#copy(this.#session.command);
      await this.#server.post("copied", {});
    });
  }

  /** Copies a text. Browsers allow it only for pages of the same machine; for others the text is selected. */
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

  /** Asks for a command and returns it, or "". */
  async #askForCommand() {
    const field = element("textarea", { rows: 5, spellcheck: false, "aria-label": "Command" });
    const text = "Every control is set as the command says. The picture and the output stay.";
    const answer = await ask("Paste a command", text, ["Set", "Cancel"], [field]);
    return answer === "Set" ? field.value.trim() : "";
  }

  /** Shows the command for every picture of the folder, whose names Satin writes to a list. */
  async #batch() {
    await this.#told(async () => {
      if (!(await this.#keepDropped())) return;
      const { list, command } = await this.#server.post("list", {});
      const answer = await ask("Every picture of the folder", `Their names are in ${fileName(list)}.`, ["Copy command", "Close"],
        [element("pre", { tabIndex: 0 }, command)]);
      if (answer === "Copy command") await this.#copy(command);
    });
  }

  async #told(action) {
    try {
      await action();
    } catch (error) {
      if (error.stale) await this.#showOther();
      else notice("save", error.message, { wrong: true });
    }
  }
}

const pause = { busy: 250, idle: 2000 }; // milliseconds

const told = {
  picture: "The picture has changed on disk.",
  depth: "A depth image or mask has changed on disk.",
  output: "The output has been changed by another program.",
};

/** Polls the server: files that change on the disk, the progress of a long run, and the end of the server. */
export class Changes {
  #server;
  #session;
  #frames;
  #keeping;
  #known = "";

  constructor(server, session, frames, keeping) {
    this.#server = server;
    this.#session = session;
    this.#frames = frames;
    this.#keeping = keeping;
    const ended = "satin view has ended. Start it again to go on; the command below is still right.";
    server.addEventListener("gone", () => notice("server", ended, { wrong: true }));
    server.addEventListener("back", () => takeBack("server"));
    this.#watch();
  }

  async #watch() {
    for (;;) {
      const busy = this.#keeping.isSaving || (this.#frames.state !== "true" && !this.#frames.refused);
      await new Promise((resolve) => setTimeout(resolve, busy ? pause.busy : pause.idle));
      if (document.hidden) continue;
      try {
        this.#show(await this.#server.json("changes"));
      } catch {
        this.#showProgress(1);
      }
    }
  }

  #show({ changed, progress, saving }) {
    if (saving !== null) byId("saved").value = saving;
    this.#showProgress(this.#frames.state === "true" ? 1 : progress ?? 1);
    const known = changed.join(" ");
    if (known === this.#known) return;
    this.#known = known;
    takeBack("changes");
    if (!changed.length) return;
    const again = { name: "Read again", run: () => this.#readAgain() };
    const files = changed.some((name) => name !== "output");
    notice("changes", changed.map((name) => told[name] ?? name).join(" "), { action: files ? again : null });
  }

  async #readAgain() {
    takeBack("changes");
    await attempt("changes", () => this.#session.open(this.#session.index));
  }

  #showProgress(share) {
    const state = byId("state");
    state.style.setProperty("--progress", share);
    state.classList.toggle("working", share > 0 && share < 1);
  }
}
