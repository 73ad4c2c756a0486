// Starts the page: makes its components and connects them.

import { Brush } from "./brush.js";
import { Compare, PictureCanvas } from "./canvas.js";
import { Depth } from "./depth.js";
import { byId, capital, fileName, notice, takeBack } from "./dom.js";
import { Changes, Keeping } from "./files.js";
import { Frames } from "./frames.js";
import { Gestures, Strength } from "./gestures.js";
import { Keys } from "./keys.js";
import { Loupe } from "./loupe.js";
import { Marks } from "./marks.js";
import { Picker } from "./pick.js";
import { Server } from "./server.js";
import { Session } from "./session.js";
import { Steps } from "./steps.js";
import { Strip } from "./strip.js";
import { Viewport } from "./viewport.js";

const states = {
  busy: "Computing", preview: "Preview", true: "True pixels", refused: "The filter cannot do this", none: "No picture",
  trouble: "Waiting for satin view",
};
const moment = 250; // milliseconds

/** Converts a length to screen pixels. Prefers the browser's own number, as rounding depends on the position. */
function pixelsOf(length, told) {
  const computed = length * devicePixelRatio;
  return Math.abs(told - computed) <= 1 ? told : Math.round(computed);
}

/** Keeps the canvas at the size of its pane in screen pixels, which not every browser reports. */
function followSize(pane, viewport, canvas) {
  const box = "devicePixelContentBoxSize" in ResizeObserverEntry.prototype ? "device-pixel-content-box" : "content-box";
  new ResizeObserver(([{ contentRect, devicePixelContentBoxSize }]) => {
    const [exact] = devicePixelContentBoxSize ?? [];
    const width = pixelsOf(contentRect.width, exact?.inlineSize);
    const height = pixelsOf(contentRect.height, exact?.blockSize);
    if (!width || !height) return;
    viewport.resize(width, height);
    canvas.resize(width, height);
  }).observe(pane, { box });
}

function addZoomButtons(viewport) {
  byId("zoom-in").onclick = () => viewport.step(1);
  byId("zoom-out").onclick = () => viewport.step(-1);
  byId("zoom-fit").onclick = () => viewport.fit();
  byId("zoom-1").onclick = () => viewport.zoomTo(1);
  viewport.addEventListener("move", () => {
    byId("zoom").textContent = `${Number((100 * viewport.zoom).toPrecision(viewport.zoom < 0.1 ? 2 : 3))} %`;
  });
}

function addHistoryButtons(session) {
  for (const name of ["undo", "redo", "reset"]) byId(name).onclick = () => session[name]();
  const show = () => {
    byId("undo").disabled = !session.canUndo && !session.canReset;
    byId("redo").disabled = !session.canRedo;
    byId("reset").disabled = !session.canReset;
  };
  for (const event of ["settled", "values", "pipeline", "open"]) session.addEventListener(event, show);
}

/** Returns "8 bits per channel" for "u8". */
const typeText = (type) => type.slice(1) + (type.startsWith("f") ? "-bit floating point" : " bits per channel");

function showPicture(session, viewport) {
  const { picture } = session;
  const name = fileName(picture?.name ?? session.files[session.index] ?? "Satin");
  document.title = `${name} – Satin`;
  byId("picture-name").textContent = name;
  byId("picture").setAttribute("aria-label", picture ? `${name}, ${picture.width} by ${picture.height} pixels` : name);
  if (picture) viewport.open(picture);
}

function showFacts({ picture, usesLight }) {
  byId("picture-facts").textContent = !picture ? ""
    : `${picture.width} × ${picture.height}, ${typeText(picture.type)}${usesLight ? ", HDR light is used" : ""}`;
}

/** Shows which pixels are visible. Short busy states, as in a drag, are not shown. */
function showState(session, canvas, frames) {
  let timer = 0;
  const show = (state) => {
    byId("state").dataset.state = state;
    byId("state").firstChild.textContent = states[state];
  };
  const changed = () => {
    const state = frames.trouble ? "trouble"
      : !session.picture ? "none" : frames.refused ? "refused" : canvas.element.dataset.state;
    clearTimeout(timer);
    byId("state").title = frames.trouble || "Whether the view shows the pixels that the command writes";
    if (state === "busy") timer = setTimeout(show, moment, state);
    else show(state);
  };
  canvas.element.addEventListener("painted", changed);
  frames.addEventListener("state", changed);
}

function showErrors(session, steps, picker) {
  const show = () => {
    const { error } = session;
    if (error && !steps.has(error.parameter) && !picker.lacksDepth) notice("error", error.message, { wrong: true });
    else takeBack("error");
  };
  for (const event of ["answer", "open"]) session.addEventListener(event, show);
  show();
}

/** Shows help for the element under the pointer or with the focus at the foot of the panel. */
function showHelp() {
  const show = ({ target }) => {
    const about = target.closest?.("[title], [data-help]");
    byId("help").textContent = capital(about?.dataset.help ?? about?.title ?? "");
  };
  for (const event of ["pointerover", "focusin"]) document.querySelector(".panel").addEventListener(event, show);
}

/**
 * Returns the secret of the printed address. It moves from the fragment, which browsers send to no server, to the
 * storage of this tab, so that the page can be reloaded.
 */
function takeSecret() {
  const name = "satin-secret";
  const [, given] = location.hash.match(/^#t=([0-9a-f]{64})$/) ?? [];
  if (given) sessionStorage.setItem(name, given);
  history.replaceState(null, "", "/");
  return sessionStorage.getItem(name) ?? "";
}

async function start() {
  const server = new Server(takeSecret());
  const told = await server.json("session");
  const session = new Session(server, told);
  const viewport = new Viewport();
  const frames = new Frames(server, session, viewport);
  const canvas = new PictureCanvas(byId("picture"), viewport, frames);
  const gestures = new Gestures([byId("picture"), byId("before")], viewport);
  const marks = new Marks(byId("marks"), session, viewport, gestures);
  const picker = new Picker(server, session);
  const steps = new Steps(session, marks, picker);
  new Depth(server, session, canvas, frames);
  const brush = new Brush(byId("strokes"), session, viewport, gestures);
  const compare = new Compare(canvas, frames);
  const loupe = new Loupe(server, session, viewport, canvas, gestures);
  const strip = new Strip(server, session, frames);
  const keeping = new Keeping(server, session);
  gestures.pull = new Strength(session).pull;
  new Keys({ session, viewport, canvas, gestures, compare, loupe, brush, strip, keeping });
  new Changes(server, session, frames, keeping);
  addZoomButtons(viewport);
  addHistoryButtons(session);
  showErrors(session, steps, picker);
  showHelp();
  session.addEventListener("open", () => showPicture(session, viewport));
  for (const event of ["open", "answer"]) session.addEventListener(event, () => showFacts(session));
  showState(session, canvas, frames);
  showPicture(session, viewport);
  showFacts(session);
  followSize(byId("pane"), viewport, canvas);
}

start().catch((error) => notice("start", `The page cannot start: ${error.message}`, { wrong: true }));
