// Runs far beyond the others, which would flatten a chart. The chart is clipped to the others.

import { smoothedValues } from "./curve.js";
import { extent } from "./ticks.js";

/** @typedef {import("./curve.js").Line} Line */
/** @typedef {{range: [number, number], above: Line[], below: Line[]}} Divergence */

const TIMES = 5; // how much taller a line makes the chart, to be one that diverges
const SHARE = 5; // at most one line in five diverges, else there is no norm
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
  /** @type {Omit<Divergence, "range">} */
  const diverging = { above: [], below: [] };
  for (let i = 0; i < most; i++) {
    const highest = rest.reduce((a, b) => (b.high > a.high ? b : a));
    const lowest = rest.reduce((a, b) => (b.low < a.low ? b : a));
    const height = highest.high - lowest.low;
    const without = (/** @type {{line: Line}} */ end) => heightOf(rest.filter((other) => other !== end));
    const end = without(highest) <= without(lowest) ? highest : lowest;
    const norm = without(end); // of constants it is nothing: they lose nothing by being flat
    const constant = norm <= FLAT * Math.max(Math.abs(highest.high), Math.abs(lowest.low));
    if (constant || height < TIMES * norm || end.high - end.low < (TIMES - 1) * norm) break;
    (end === highest ? diverging.above : diverging.below).push(end.line);
    rest = rest.filter((other) => other !== end);
  }
  if (!diverging.above.length && !diverging.below.length) return null;
  const range = /** @type {[number, number]} */ (
    extent("linear", [rest.map(({ low }) => low), rest.map(({ high }) => high)])
  );
  return { ...diverging, range };
}

/** Return the height of the range of lines. @param {{low: number, high: number}[]} ends */
function heightOf(ends) {
  return Math.max(...ends.map(({ high }) => high)) - Math.min(...ends.map(({ low }) => low));
}
