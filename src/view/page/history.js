// Undo and redo: the settings that were made, as a list of texts with a place in it.

const most = 500;

export class History {
  #states;
  #place = 0;

  constructor(state) {
    this.#states = [state];
  }

  get canUndo() {
    return this.#place > 0;
  }

  get canRedo() {
    return this.#place + 1 < this.#states.length;
  }

  /** The state at the start. */
  get first() {
    return this.#states[0];
  }

  /** Drops what could be redone. A state equal to the present one is none. */
  add(state) {
    if (state === this.#states[this.#place]) return;
    this.#states.splice(this.#place + 1, Infinity, state);
    if (this.#states.length > most) this.#states.splice(1, 1);
    this.#place = this.#states.length - 1;
  }

  undo() {
    return this.#states[(this.#place -= 1)];
  }

  redo() {
    return this.#states[(this.#place += 1)];
  }
}
