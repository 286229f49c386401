// Range and ticks of the axes of a scalar chart, and what its y axis leaves out.

import { smoothedValues, xColumn } from "./curve.js";
import { divergence } from "./divergence.js";
import { calmRange } from "./scale.js";
import { extent, ticksAround, ticksFor, ticksWithin, tickText } from "./ticks.js";
import { upright } from "./zoom.js";

/** @typedef {import("./curve.js").Line} Line */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./scale.js").Scale} Scale */
/** @typedef {[number, number]} Range */

const ROOM = 2; // heights of a median that the range around it may take on each side

/**
 * Lines that a chart is not stretched for; null where there is none, or where somebody chose what is shown.
 * @param {Line[]} lines
 * @param {Options} options
 * @param {Range} [tall] range of y that is looked at in this chart
 */
export function clippedLines(lines, options, tall) {
  return options.y === "linear" && !options.clip && !tall ? divergence(lines) : null;
}

/**
 * @param {Line[]} lines
 * @param {Options} options
 * @param {Scale} scale
 * @param {boolean} many whether raw values behind smoothed ones are left out
 * @param {Range} [tall] range of y that is looked at in this chart
 * @returns {{axis: Record<string, any>, clip: Range | null}} Plotly's y axis; the range that lines are cut to
 */
export function valueAxis(lines, options, scale, many, tall) {
  const calm = options.clip
    ? calmRange(lines.map(({ curve }) => smoothedValues(curve)))
    : (clippedLines(lines, options, tall)?.range ?? null);
  const looked = tall && upright(tall, scale);
  if (scale.ticks || options.y === "symlog") {
    const range = looked ?? (calm && upright(calm, scale));
    return { axis: { ...(scale.ticks ?? {}), ...(range ? { range } : {}) }, clip: calm };
  }
  const kind = options.y;
  if (tall && looked) return { axis: { range: looked, ...ticksWithin(kind, tall) }, clip: calm };
  const ticks = calm && upright(calm, scale) ? ticksAround(kind, calm) : ticksFor(kind, columns(lines, many));
  if (!ticks) return { axis: { tickvals: [], ticktext: [] }, clip: calm };
  const { range, ...labels } = ticks;
  return { axis: { range: upright(range, scale) ?? undefined, ...labels }, clip: calm && range };
}

/** What is drawn of each line. @param {Line[]} lines @param {boolean} many */
function columns(lines, many) {
  return lines.flatMap(({ curve }) => [
    smoothedValues(curve),
    ...(many ? [] : [curve.value]),
    ...rangeColumns(curve),
    ...(curve.overwritten ?? []).map(({ value }) => value),
  ]);
}

/**
 * The range over ranks, as far as it does not flatten their median: a rank that diverges leaves the chart.
 * @param {import("./curve.js").Curve} curve
 */
function rangeColumns(curve) {
  if (!curve.low || !curve.high) return [];
  const finite = [...smoothedValues(curve)].filter(Number.isFinite);
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const room = ROOM * (most - least || Math.abs(most) || 1);
  return [curve.low.map((v) => Math.max(v, least - room)), curve.high.map((v) => Math.min(v, most + room))];
}

/**
 * Full numbers on the x axis; none for wall time, which Plotly writes.
 * @param {Line[]} lines
 * @param {Options} options
 */
export function stepTicks(lines, { x, logX, zoom }) {
  if (x === "wall" || logX === "symlog") return {};
  const places = lines.flatMap(({ curve }) =>
    [curve, ...(curve.overwritten ?? [])].map((stretch) => xColumn(stretch, x)),
  );
  const zoomed = zoom && (logX === "linear" || zoom[0] > 0) ? zoom : null;
  const ends = zoomed ?? (logX === "linear" ? extent(logX, places) : null);
  const ticks = ends ? ticksWithin(logX, ends) : ticksFor(logX, places);
  const between = (/** @type {number} */ value) => x === "step" && !Number.isInteger(value);
  const tickvals = [...new Set(ticks?.tickvals)].filter((value) => !between(value));
  return { tickvals, ticktext: tickvals.map(tickText) };
}
