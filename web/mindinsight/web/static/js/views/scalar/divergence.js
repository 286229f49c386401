// Runs far beyond the others, which would flatten a chart. The chart is clipped to the others.

import { smoothedValues } from "./curve.js";
import { extent } from "./ticks.js";

/** @typedef {import("./curve.js").Line} Line */
/** @typedef {{line: Line, low: number, high: number}} Ends of the range of a line */
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
  const all = lines.flatMap((line) => {
    const ends = extent("linear", [line.curve.value, smoothedValues(line.curve)]);
    return ends ? [{ line, low: ends[0], high: ends[1] }] : [];
  });
  if (all.length < LEAST) return null;
  const byHigh = [...all].sort((a, b) => b.high - a.high);
  const byLow = [...all].sort((a, b) => a.low - b.low);
  /** The lines taken away so far, in this order. @type {Map<Ends, "above" | "below">} */
  const outer = new Map();
  const first = (/** @type {Ends[]} */ sorted, /** @type {Ends | undefined} */ but = undefined) =>
    /** @type {Ends} */ (sorted.find((end) => end !== but && !outer.has(end)));
  const without = (/** @type {Ends} */ end) => first(byHigh, end).high - first(byLow, end).low;
  /** Of these, the lines that diverge, and the others' range. @type {Divergence | null} */
  let found = null;
  let from = byHigh[0].high - byLow[0].low; // before the lines of unknown kind were taken away
  let [narrowest, size] = [Infinity, 0]; // of these lines
  // Lines that may still be taken away; one that ends in NaN is known to have exploded.
  let left = Math.max(1, Math.floor(all.length / SHARE));
  while (all.length - outer.size - 1 >= all.length / 2) {
    const [highest, lowest] = [first(byHigh), first(byLow)];
    const end = without(highest) <= without(lowest) ? highest : lowest;
    if (Number.isFinite(end.line.curve.value.at(-1)) && left-- <= 0) break;
    const norm = without(end); // of constants it is nothing: they lose nothing by being flat
    narrowest = Math.min(narrowest, end.high - end.low);
    size = Math.max(size, Math.abs(highest.high), Math.abs(lowest.low));
    outer.set(end, end === highest ? "above" : "below");
    if (norm <= FLAT * size || from < TIMES * norm || narrowest < (TIMES - 1) * norm) continue;
    found = { ...sides(outer), range: rangeOf(all.filter((other) => !outer.has(other))) };
    [from, narrowest, size] = [norm, Infinity, 0];
  }
  return found;
}

/** Return the lines above and below the others. @param {Map<Ends, "above" | "below">} outer */
function sides(outer) {
  const on = (/** @type {string} */ wanted) =>
    [...outer].filter(([, side]) => side === wanted).map(([{ line }]) => line);
  return { above: on("above"), below: on("below") };
}

/** Return the range of lines. @param {{low: number, high: number}[]} ends */
function rangeOf(ends) {
  return /** @type {[number, number]} */ (
    extent("linear", [ends.map(({ low }) => low), ends.map(({ high }) => high)])
  );
}
