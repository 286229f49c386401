// Keyboard and pointer input of a drawing.

import { neighbour } from "./neighbour.js";

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/**
 * Handle a key: move to another box, open, close, zoom. Return whether the key had an effect.
 * @param {import("./canvas.js").Canvas} canvas
 * @param {string} key
 * @returns {boolean} whether it is for anything
 */
export function canvasKey(canvas, key) {
  const { actions, selected } = canvas;
  const arrow = ARROWS[/** @type {keyof ARROWS} */ (key)];
  if (arrow) actions.select(neighbour(canvas.boxes(), selected, arrow) ?? selected, true);
  else if ((key === "Enter" || key === " ") && selected !== null) actions.toggle(selected);
  else if (key === "Escape") actions.select(null);
  else if (key === "+" || key === "=") canvas.zoom(1.25);
  else if (key === "-") canvas.zoom(0.8);
  else if (key === "0") canvas.fit();
  else return false;
  return true;
}

/** Return the id of the box under an event, or null. @param {Event} event */
export function boxAt(event) {
  const element = /** @type {Element} */ (event.target).closest("[data-id]");
  return element ? Number(element.getAttribute("data-id")) : null;
}
