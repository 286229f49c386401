// Range and ticks of a scalar chart's axes.

import { calmRange } from "../../core/calm_range.js";
import { smoothedValues, stretchesOf, xColumn } from "./curve.js";
import { divergence } from "./divergence.js";
import { extent, ticksAround, texts, ticksFor, ticksWithin } from "./ticks.js";
import { durationTicks, timeTicks } from "./time_ticks.js";
import { upright } from "./zoom.js";

/** @typedef {import("./curve.js").Line} Line */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./scale.js").Scale} Scale */
/** @typedef {[number, number]} Range */

const ROOM = 2; // heights of a median that the range around it may take on each side

/**
 * Return the lines that do not widen the chart; null if there are none or the user chose a range.
 * @param {Line[]} lines
 * @param {Options} options
 * @param {Range} [tall] range of y that is looked at in this chart
 */
export function clippedLines(lines, options, tall) {
  return options.y === "linear" && !options.clip && !tall ? divergence(lines) : null;
}

/**
 * Return the y axis of a chart, and the range to which its curves are clipped, null if they are not clipped.
 * @param {Line[]} lines
 * @param {Options} options
 * @param {Scale} scale
 * @param {boolean} many whether raw values behind smoothed ones are left out
 * @param {Range} [tall] range of y that is looked at in this chart
 * @returns {{axis: import("../../core/types.js").PlotlyAxis, clip: Range | null}}
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

/**
 * Return the range of everything in a chart whose axis cuts the ranges over the ranks; null if it has all of
 * these, or the user chose a range.
 * @param {Line[]} lines
 * @param {Options} options
 * @param {boolean} many whether raw values behind smoothed ones are left out
 * @param {Range} [tall] range of y that is looked at in this chart
 * @returns {Range | null}
 */
export function cutBands(lines, options, many, tall) {
  const kind = options.y;
  const ends = lines.flatMap(({ curve: { low, high } }) => (low && high ? [low, high] : []));
  if (kind === "symlog" || tall || options.clip || !ends.length) return null;
  const drawn = columns(lines, many);
  const calm = clippedLines(lines, options, tall)?.range;
  const range = (calm ? ticksAround(kind, calm) : ticksFor(kind, drawn))?.range;
  const band = extent(kind, ends);
  if (!range || !band || (band[0] >= range[0] && band[1] <= range[1])) return null;
  return ticksFor(kind, [...drawn, ...ends])?.range ?? null;
}

/** Return the columns that are drawn of each line. @param {Line[]} lines @param {boolean} many */
function columns(lines, many) {
  return lines.flatMap(({ curve, before = [] }) => [
    smoothedValues(curve),
    ...(many ? [] : [curve.value]),
    ...rangeColumns(curve),
    ...[...(curve.overwritten ?? []), ...before].map(({ value }) => value),
  ]);
}

/**
 * Return the range over ranks, limited so that it does not flatten the median.
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
 * Return the positions and texts of the x axis' ticks. On a symlog axis return {}, as Plotly gets them from
 * its scale.
 * @param {Line[]} lines
 * @param {Options} options
 */
export function stepTicks(lines, { x, logX, zoom }) {
  const places = lines.flatMap((line) => stretchesOf(line).map((stretch) => xColumn(stretch, x)));
  if (x === "wall") return timeTicks(zoom ?? extent("linear", places)?.map((ms) => ms / 1000));
  if (logX === "symlog") return {};
  const zoomed = zoom && (logX === "linear" || zoom[0] > 0) ? zoom : null;
  const ends = zoomed ?? (logX === "linear" ? extent(logX, places) : null);
  if (x === "relative" && logX === "linear" && ends) return durationTicks(ends);
  const ticks = ends ? ticksWithin(logX, ends) : ticksFor(logX, places);
  const between = (/** @type {number} */ value) => x === "step" && !Number.isInteger(value);
  const tickvals = [...new Set(ticks?.tickvals)].filter((value) => !between(value));
  const { ticktext } = texts(tickvals);
  return { tickvals, ticktext: x === "relative" ? ticktext.map((text) => `${text} s`) : ticktext };
}
