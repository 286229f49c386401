// State of the landscape page in the address.

import { MAPS } from "./figures.js";

/**
 * @typedef {Object} State
 * @property {string} mode
 * @property {boolean} over
 * @property {string} interval
 * @property {number} lines
 * @property {string} colours
 * @property {number} shown points of the path
 */

export const MODES = ["lines", "map", "surface"];
export const USUAL_LINES = 20;

/** Read the state from the address. @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  const mode = url.get("m", "map");
  const colours = url.get("c", "");
  return {
    mode: MODES.includes(mode) ? mode : "map",
    over: url.get("over") === "1",
    interval: url.get("i", ""),
    lines: Number(url.get("n")) || USUAL_LINES,
    colours: MAPS.includes(colours) ? colours : "",
    shown: Number(url.get("at")) || Infinity,
  };
}

/**
 * Write the state to the address.
 * @param {import("../../core/url.js").Url} url
 * @param {State} state
 * @param {string | undefined} first the interval that is shown unless another is chosen
 */
export function writeState(url, { mode, over, interval, lines, colours, shown: points }, first) {
  url.set({
    m: mode === "map" ? null : mode,
    over: over ? "1" : null,
    i: interval === first ? null : interval,
    n: lines === USUAL_LINES ? null : lines,
    c: colours,
    at: points === Infinity ? null : points,
  });
}
