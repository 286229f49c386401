// Runs far beyond the others, which would flatten a chart. The chart is clipped to the others.

import { smoothedValues } from "./curve.js";
import { extent } from "./ticks.js";

/** @typedef {import("./curve.js").Line} Line */
/** @typedef {{range: [number, number], above: Line[], below: Line[]}} Divergence */

const TIMES = 5; // how much taller a line makes the chart, to be one that diverges
const SHARE = 5; // at most one line in five diverges without a NaN at its end, else there is no norm
const LEAST = SHARE; // lines: of three, the one that learned is as far from the others as one that diverged
const FLAT = 1e-9; // share of its values that a constant varies by after smoothing

/**
 * Return the lines above and below the others, and the others' range; null if no line flattens the chart.
 * @param {Line[]} lines
 * @returns {Divergence | null}
 */
export function divergence(lines) {
  let rest = lines.flatMap((line) => {
    const ends = extent("linear", [line.curve.value, smoothedValues(line.curve)]);
    return ends ? [{ line, low: ends[0], high: ends[1] }] : [];
  });
  if (rest.length < LEAST) return null;
  const most = Math.max(1, Math.floor(rest.length / SHARE));
  /** @type {{line: Line, side: "above" | "below"}[]} */
  let outer = []; // the lines taken away so far
  /** Of these, the lines that diverge, and the others' range. @type {Divergence | null} */
  let found = null;
  let from = heightOf(rest); // before the lines of unknown kind were taken away
  let [narrowest, size] = [Infinity, 0]; // of these lines
  let left = most; // lines that may still be taken away; one that ends in NaN is known to have exploded
  const half = rest.length / 2;
  while (rest.length - 1 >= half) {
    const highest = rest.reduce((a, b) => (b.high > a.high ? b : a));
    const lowest = rest.reduce((a, b) => (b.low < a.low ? b : a));
    const without = (/** @type {{line: Line}} */ end) => heightOf(rest.filter((other) => other !== end));
    const end = without(highest) <= without(lowest) ? highest : lowest;
    if (Number.isFinite(end.line.curve.value.at(-1)) && left-- <= 0) break;
    narrowest = Math.min(narrowest, end.high - end.low);
    size = Math.max(size, Math.abs(highest.high), Math.abs(lowest.low));
    outer = [...outer, { line: end.line, side: end === highest ? "above" : "below" }];
    rest = rest.filter((other) => other !== end);
    const norm = heightOf(rest); // of constants it is nothing: they lose nothing by being flat
    if (norm <= FLAT * size || from < TIMES * norm || narrowest < (TIMES - 1) * norm) continue;
    found = { ...sides(outer), range: rangeOf(rest) };
    [from, narrowest, size] = [norm, Infinity, 0];
  }
  return found;
}

/**
 * Return the lines above and below the others.
 * @param {{line: Line, side: "above" | "below"}[]} outer
 */
function sides(outer) {
  const on = (/** @type {string} */ wanted) => outer.filter(({ side }) => side === wanted);
  return { above: on("above").map(({ line }) => line), below: on("below").map(({ line }) => line) };
}

/** Return the range of lines. @param {{low: number, high: number}[]} ends */
function rangeOf(ends) {
  return /** @type {[number, number]} */ (
    extent("linear", [ends.map(({ low }) => low), ends.map(({ high }) => high)])
  );
}

/** Return the height of the range of lines. @param {{low: number, high: number}[]} ends */
function heightOf(ends) {
  return Math.max(...ends.map(({ high }) => high)) - Math.min(...ends.map(({ low }) => low));
}
