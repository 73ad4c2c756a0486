// A picture of the opening of the lens: the shape that bright points have out of focus, as lens/lamps.cpp makes it.

import { shape } from "./dom.js";

const rings = 8;
const darkestRing = 0.5;
const farthestRim = 0.8;

/** Returns the path of an opening whose sides are arcs. Its corners are at a distance from the centre. */
function outlineOf(blades, degrees, curvature, distance) {
  const half = Math.PI / blades;
  const height = Math.max(0.001, curvature) * (1 - Math.cos(half));
  const radius = (distance * (Math.sin(half) ** 2 + height ** 2)) / (2 * height);
  const corners = Array.from({ length: blades }, (_, i) => {
    const angle = Math.PI * (0.5 + degrees / 180) + (2 * i + 1) * half; // at 0 degrees it stands on a side
    return `${distance * Math.cos(angle)} ${distance * Math.sin(angle)}`;
  });
  return `M${corners.at(-1)}${corners.map((corner) => `A${radius} ${radius} 0 0 1 ${corner}`).join("")}Z`;
}

/** Returns the picture, and a function that draws it for the values of a step and the parameters of its filter. */
export function aperture() {
  const [whole, brighter, cut] = Array.from({ length: 3 }, () => shape("path", { "fill-rule": "evenodd" }));
  const opening = shape("g", {}, whole, brighter);
  const picture = shape("svg", { class: "aperture", viewBox: "-1.2 -1.2 2.4 2.4", role: "img" }, opening, cut);
  const draw = ({ values }, parameters) => {
    const number = (name) => {
      const { default: usual, minimum, maximum } = parameters.find((parameter) => parameter.name === name);
      const value = Number(values[name] ?? usual) || Number(usual);
      return value && Math.min(maximum, Math.max(minimum, value));
    };
    const [set, squeeze, onion] = [number("blades"), number("squeeze"), number("onion")];
    const blades = { hexagon: 6, square: 4, polygon: set || 6 }[values.bokeh] ?? set;
    const curvature = blades ? number("blade-curvature") : 1;
    const outline = (scale) => outlineOf(blades || 4, number("blade-angle"), curvature, scale);
    opening.setAttribute("transform", `scale(${Math.min(1, 1 / squeeze)} ${Math.min(1, squeeze)})`);
    whole.setAttribute("d", outline(1));
    whole.setAttribute("opacity", 1 - darkestRing * onion);
    const scales = Array.from({ length: rings }, (_, ring) => 1 - ring / rings);
    brighter.setAttribute("d", onion ? scales.map(outline).join("") : "");
    const shift = (number("cats-eye") * farthestRim) / Math.SQRT2; // in the upper left corner of a picture
    cut.setAttribute("d", shift ? `M-2-2h4v4h-4z${outlineOf(4, 0, 1, 1)}` : "");
    cut.setAttribute("transform", `translate(${shift} ${shift})`);
    picture.setAttribute("aria-label", blades ? `Opening with ${blades} blades` : "Round opening");
    picture.toggleAttribute("hidden", Boolean(values.aperture)); // a picture replaces the shape
  };
  return { picture, draw };
}
