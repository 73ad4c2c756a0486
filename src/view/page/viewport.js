// The viewport: position of the canvas's upper left corner, in pixels of the picture, and scale.

const largest = 32;
const enlarged = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32];
const stops = [...enlarged.map((zoom) => 1 / zoom), ...enlarged.slice(1)];

/** Dispatches "move" after every change. Canvas pixels are screen pixels. */
export class Viewport extends EventTarget {
  x = 0;
  y = 0;
  zoom = 1;
  width = 0;
  height = 0;
  picture = { width: 1, height: 1 };
  #fits = true;

  /** Shows another picture as a whole, or at the same position if its size is the same. */
  open(picture) {
    const same = picture.width === this.picture.width && picture.height === this.picture.height;
    this.picture = picture;
    if (!same) this.fit();
  }

  resize(width, height) {
    const [x, y] = this.toPicture(this.width / 2, this.height / 2);
    this.width = width;
    this.height = height;
    if (this.#fits) this.fit();
    else this.#place(x - width / 2 / this.zoom, y - height / 2 / this.zoom);
  }

  /** The scale that shows the whole picture, at most 1. */
  get fitting() {
    return Math.min(1, this.width / this.picture.width, this.height / this.picture.height);
  }

  fit() {
    if (!this.width) return;
    this.zoom = this.fitting;
    this.#place(0, 0);
    this.#fits = true;
  }

  /** Zooms. The pixel at this position of the canvas stays there. */
  zoomTo(zoom, atX = this.width / 2, atY = this.height / 2) {
    const [x, y] = this.toPicture(atX, atY);
    this.zoom = Math.min(largest, Math.max(Math.min(1 / largest, this.fitting), zoom));
    this.#place(x - atX / this.zoom, y - atY / this.zoom);
  }

  /** Zooms to the next stop, larger or smaller. */
  step(direction) {
    const here = this.zoom * (1 + 0.01 * direction);
    const all = [...stops, this.fitting].sort((a, b) => a - b);
    const next = direction > 0 ? all.find((stop) => stop > here) : all.findLast((stop) => stop < here);
    if (next) this.zoomTo(next);
  }

  /** Moves the picture under the canvas by canvas pixels. */
  pan(alongX, alongY) {
    this.#place(this.x - alongX / this.zoom, this.y - alongY / this.zoom);
  }

  /** Moves just as far as needed to show a position of the picture. */
  reveal(x, y) {
    const outside = (at, from, size) => Math.min(0, at - from) + Math.max(0, at - from - size);
    const byX = outside(x, this.x, this.width / this.zoom - 1);
    const byY = outside(y, this.y, this.height / this.zoom - 1);
    if (byX || byY) this.#place(this.x + byX, this.y + byY);
  }

  toPicture(x, y) {
    return [this.x + x / this.zoom, this.y + y / this.zoom];
  }

  toCanvas(x, y) {
    return [(x - this.x) * this.zoom, (y - this.y) * this.zoom];
  }

  /** Sets the corner. A smaller picture is centred, a larger one fills the canvas. Pixels are aligned with the canvas. */
  #place(x, y) {
    const held = (from, size, whole) => {
      const seen = size / this.zoom;
      const exact = whole <= seen ? (whole - seen) / 2 : Math.min(whole - seen, Math.max(0, from));
      return this.zoom < 1 ? Math.round(exact * this.zoom) / this.zoom : Math.round(exact);
    };
    this.x = held(x, this.width, this.picture.width);
    this.y = held(y, this.height, this.picture.height);
    this.#fits = false;
    this.dispatchEvent(new Event("move"));
  }
}
