// Axis of a light drawing: conversion between values and pixels, and the range that holds the data, by the
// same rules as Plotly, which draws the chart later.

export const ROOM = 0.05; // of the axis, beyond the outermost markers, and values on y
const FAR = 1000; // px

/**
 * The part of Plotly's axes that pointers need.
 * @typedef {Object} Axis
 * @property {(value: number) => number} c2p px from the beginning of the axis
 * @property {(px: number) => number} p2c
 * @property {number} _length px
 * @property {number} _offset px from the edge of the chart
 * @property {number[]} tickvals
 * @property {string[]} ticktext
 */

/**
 * A column that is drawn on an axis, and the px that stay free beyond it.
 * @typedef {{values: ArrayLike<number>, px: number}} Column
 */

/**
 * Return the ends of an axis: the given range, or one that holds all columns with margins. On a logarithmic
 * axis the ends are powers of ten.
 * @param {import("../types.js").PlotlyAxis} axis of a Plotly layout
 * @param {Column[]} columns
 * @param {number} length px
 * @returns {[number, number]}
 */
export function rangeOf({ range, type }, columns, length) {
  if (range) return range;
  const unit = type === "log" ? Math.log10 : Number;
  /** By the free px: the least and the largest value. @type {Map<number, [number, number]>} */
  const ends = new Map();
  for (const { values, px } of columns) {
    const [least, most] = ends.get(px) ?? [Infinity, -Infinity];
    const [low, high] = endsOf(values, type === "log" ? 0 : -Infinity);
    if (low <= high) ends.set(px, [Math.min(least, unit(low)), Math.max(most, unit(high))]);
  }
  let [begin, end, scale] = [NaN, NaN, -1];
  for (const [before, [low]] of ends) {
    for (const [after, [, high]] of ends) {
      const next = (high - low) / (length - before - after);
      if (next > scale) [begin, end, scale] = [low - next * before, high + next * after, next];
    }
  }
  if (scale < 0) return type === "log" ? [0, 1] : [-1, 6]; // as Plotly has an axis without values
  return scale ? [begin, end] : [begin - 1, end + 1];
}

/** Ends of columns, by bound: nobody writes to them, and those of finished runs are drawn again and again. */
const known = new Map([0, -Infinity].map((bound) => [bound, new WeakMap()]));

/**
 * Return the smallest and largest finite value above a bound; [Infinity, -Infinity] if there is none.
 * @param {ArrayLike<number>} values
 * @param {number} bound 0 or -Infinity
 * @returns {[number, number]}
 */
export function endsOf(values, bound) {
  const before = known.get(bound)?.get(values);
  if (before) return before;
  const ends = endsIn(values, bound);
  if (ArrayBuffer.isView(values)) known.get(bound)?.set(values, ends);
  return ends;
}

/** @param {ArrayLike<number>} values @param {number} bound @returns {[number, number]} */
function endsIn(values, bound) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value) || value <= bound) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/**
 * Create an axis from its Plotly layout, range and place on the chart.
 * @param {import("../types.js").PlotlyAxis} axis of a Plotly layout
 * @param {[number, number]} range in the axis' own units
 * @param {{offset: number, length: number, up?: boolean}} place `up`: px are counted from the high end
 * @returns {Axis}
 */
export function axisOf({ type, tickvals = [], ticktext = [] }, [low, high], { offset, length, up = false }) {
  const own = type === "log" ? Math.log10 : (/** @type {number} */ value) => value;
  const value = type === "log" ? (/** @type {number} */ at) => 10 ** at : (/** @type {number} */ at) => at;
  const [zero, slope] = up ? [high, -length / (high - low)] : [low, length / (high - low)];
  const below = up ? length + FAR : -FAR; // of zero and less on a logarithmic axis
  return {
    c2p: (v) => (v <= 0 && type === "log" ? below : (own(v) - zero) * slope),
    p2c: (px) => value(zero + px / slope),
    _length: length,
    _offset: offset,
    tickvals,
    ticktext,
  };
}
