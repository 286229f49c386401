// Ticks of an axis: round values with both ends labelled, as full numbers on linear and logarithmic axes.

import { endsOf } from "../../core/sketch/axis.js";

const INTERVALS = 5; // between the ticks of an axis, about
const ROOM = 0.02; // of the height that stays free beyond the outermost ticks
const CONSTANT = 1e-9; // of its size: a curve that varies by less is drawn as constant

/**
 * @typedef {Object} Ticks
 * @property {[number, number]} range of the axis, in the units of the values
 * @property {number[]} tickvals
 * @property {string[]} ticktext
 */

/**
 * A number on an axis: 0.5, 12.5k, 3.2M, 1e9, 2e−5.
 * @param {number} value
 */
export function tickText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) {
    return value.toExponential().replace("-", "−").replace("e+", "e").replace("e-", "e−");
  }
  const [unit, suffix] = size >= 1e6 ? [1e6, "M"] : size >= 1e3 ? [1e3, "k"] : [1, ""];
  return `${rounded(value / unit)}${suffix}`.replace("-", "−");
}

/**
 * Ticks and range for values; null where there is none that can be drawn.
 * @param {"linear" | "log"} kind
 * @param {Iterable<ArrayLike<number>>} columns
 * @returns {Ticks | null}
 */
export function ticksFor(kind, columns) {
  const ends = extent(kind, columns);
  return ends && ticksAround(kind, apart(kind, ends));
}

/**
 * Ticks around a range, whose ends move outward to round values.
 * @param {"linear" | "log"} kind
 * @param {[number, number]} ends in the units of the values
 * @returns {Ticks}
 */
export function ticksAround(kind, [low, high]) {
  const values = kind === "log" ? logValues(low, high) : linearValues(low, high);
  return { range: withRoom(kind, values[0], values[values.length - 1]), ...texts(values) };
}

/**
 * Ticks inside a range that stays as it is: one that somebody zoomed to.
 * @param {"linear" | "log"} kind
 * @param {[number, number]} ends in the units of the values
 */
export function ticksWithin(kind, [low, high]) {
  const values = kind === "log" ? logValues(low, high) : linearValues(low, high);
  return texts(values.filter((value) => value >= low && value <= high));
}

/**
 * Ticks of an axis of steps, which have nothing between them.
 * @param {Iterable<ArrayLike<number>>} columns
 */
export function wholeTicks(columns) {
  const ends = extent("linear", columns);
  return texts(ends ? [...new Set(ticksWithin("linear", ends).tickvals)].filter(Number.isInteger) : []);
}

/** @param {number[]} values */
function texts(values) {
  return { tickvals: values, ticktext: values.map(tickText) };
}

/**
 * The least and the largest value that can be drawn.
 * @param {"linear" | "log"} kind
 * @param {Iterable<ArrayLike<number>>} columns
 * @returns {[number, number] | null}
 */
export function extent(kind, columns) {
  let [low, high] = [Infinity, -Infinity];
  for (const column of columns) {
    const [least, most] = endsOf(column, kind === "log" ? 0 : -Infinity);
    [low, high] = [Math.min(low, least), Math.max(high, most)];
  }
  return low > high ? null : [low, high];
}

/**
 * Room on either side of a constant.
 * @param {"linear" | "log"} kind
 * @param {[number, number]} ends
 * @returns {[number, number]}
 */
function apart(kind, [low, high]) {
  if (high - low > CONSTANT * Math.max(Math.abs(low), Math.abs(high))) return [low, high];
  if (kind === "log") return [low / 2 || low, Math.min(high * 2, Number.MAX_VALUE)];
  const room = Math.abs(low) / 10 || 1;
  return bounded(low - room, high + room);
}

/**
 * Round values from at most `low` to at least `high`; the ends themselves where numbers have no more digits.
 * @param {number} low @param {number} high
 */
function linearValues(low, high) {
  const step = roundStep(high / INTERVALS - low / INTERVALS);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  if (!(step > 0 && last - first <= 4 * INTERVALS)) return [low, high];
  const values = Array.from({ length: last - first + 1 }, (_, i) => rounded((first + i) * step));
  return values.every(Number.isFinite) ? values : [low, ...values.filter((v) => v > low && v < high), high];
}

/**
 * Powers of ten, or 1, 2 and 5 of each, or round values within one.
 * @param {number} low @param {number} high
 */
function logValues(low, high) {
  const decades = Math.log10(high) - Math.log10(low);
  if (!(decades > 0 && decades < Infinity)) return [low, high];
  if (decades < 0.7) return linearValues(low, high).filter((value) => value > 0);
  const parts = decades < 2.5 ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil(decades / INTERVALS - 1e-9));
  const values = [];
  for (let power = Math.floor(Math.log10(low)); ; power += stride) {
    for (const part of parts) {
      values.push(Math.min(Math.max(Number(`${part}e${power}`), Number.MIN_VALUE), Number.MAX_VALUE));
      if (values[values.length - 1] >= high) return values.slice(values.findLastIndex((v) => v <= low));
    }
  }
}

/** The nearest of 1, 2, 2.5 and 5 times a power of ten that is not less. @param {number} step */
function roundStep(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * ([1, 2, 2.5, 5].find((part) => part * power >= step * (1 - 1e-9)) ?? 10);
}

/** @param {"linear" | "log"} kind @param {number} low @param {number} high @returns {[number, number]} */
function withRoom(kind, low, high) {
  if (kind === "log") {
    const factor = high ** ROOM / low ** ROOM;
    return [low / factor || low, Math.min(high * factor, Number.MAX_VALUE)];
  }
  const room = ROOM * high - ROOM * low;
  return bounded(low - room, high + room);
}

/** Finite ends of an axis. @param {number} low @param {number} high @returns {[number, number]} */
function bounded(low, high) {
  return [Math.max(low, -Number.MAX_VALUE), Math.min(high, Number.MAX_VALUE)];
}

/** Without the last digits of binary fractions: 0.3, not 0.30000000000000004. @param {number} value */
function rounded(value) {
  return Number(value.toPrecision(12));
}
