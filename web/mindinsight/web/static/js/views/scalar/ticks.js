// Ticks of linear and logarithmic axes: round values, with both ends labelled.

import { number } from "../../core/format.js";
import { endsOf } from "../../core/sketch/axis.js";

const INTERVALS = 5; // between the ticks of an axis, about
const ROOM = 0.02; // of the height that stays free beyond the outermost ticks
const CONSTANT = 1e-9; // of its size: a curve that varies by less is drawn as constant
const LONGEST = 12; // characters of a text with a power of ten that is shorter than all digits
const NARROW = 1e-300; // an axis that spans less has more pixels to a unit than a number can hold

/**
 * @typedef {Object} Ticks
 * @property {[number, number]} range of the axis, in the units of the values
 * @property {number[]} tickvals
 * @property {string[]} ticktext
 */

/** Format a number of an axis: 0.5, 12.5k, 3.2M, 1e9, 2e−5. @param {number} value */
export function tickText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) {
    return value.toExponential().replace("-", "−").replace("e+", "e").replace("e-", "e−");
  }
  const [unit, suffix] = size >= 1e6 ? [1e6, "M"] : size >= 1e3 ? [1e3, "k"] : [1, ""];
  return `${rounded(value / unit)}${suffix}`.replace("-", "−");
}

/**
 * Return ticks and range for values; null if none can be drawn.
 * @param {"linear" | "log"} kind
 * @param {Iterable<ArrayLike<number>>} columns
 * @returns {Ticks | null}
 */
export function ticksFor(kind, columns) {
  const ends = extent(kind, columns);
  return ends && ticksAround(kind, apart(kind, ends));
}

/**
 * Return ticks around a range, whose ends are moved outward to round values.
 * @param {"linear" | "log"} kind
 * @param {[number, number]} ends in the units of the values
 * @returns {Ticks}
 */
export function ticksAround(kind, [low, high]) {
  const values = kind === "log" ? logValues(low, high) : linearValues(low, high);
  return { range: withRoom(kind, values[0], values[values.length - 1]), ...texts(values) };
}

/**
 * Return the positions and texts of round ticks inside a fixed range.
 * @param {"linear" | "log"} kind
 * @param {[number, number]} ends in the units of the values
 */
export function ticksWithin(kind, [low, high]) {
  const values = kind === "log" ? logValues(low, high) : linearValues(low, high);
  return texts(values.filter((value) => value >= low && value <= high));
}

/**
 * Return the positions and texts of ticks at whole numbers, for steps.
 * @param {Iterable<ArrayLike<number>>} columns
 */
export function wholeTicks(columns) {
  const ends = extent("linear", columns);
  return texts(ends ? [...new Set(ticksWithin("linear", ends).tickvals)].filter(Number.isInteger) : []);
}

/**
 * Return ticks with their texts: with all digits where shorter texts would be those of other ticks, too.
 * @param {number[]} values
 */
export function texts(values) {
  const ticktext = values.map(tickText);
  const distinct =
    new Set(ticktext).size === values.length && !ticktext.some((text) => text.length > LONGEST);
  return { tickvals: values, ticktext: distinct ? ticktext : values.map((value) => number(value, 16)) };
}

/**
 * Return the smallest and largest value that can be drawn; null if there is none.
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
 * Return a range with room on either side if it is constant.
 * @param {"linear" | "log"} kind
 * @param {[number, number]} ends
 * @returns {[number, number]}
 */
function apart(kind, [low, most]) {
  const high = kind === "log" || !(low || most) ? most : Math.max(most, low + NARROW);
  if (high - low > CONSTANT * Math.max(Math.abs(low), Math.abs(high))) return [low, high];
  if (kind === "log") return [low / 2 || low, Math.min(high * 2, Number.MAX_VALUE)];
  const room = Math.abs(low) / 10 || 1;
  return bounded(low - room, high + room);
}

/** Return round values that enclose a range. @param {number} low @param {number} high */
function linearValues(low, high) {
  const step = roundStep(high / INTERVALS - low / INTERVALS);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  if (!(step > 0 && last - first <= 4 * INTERVALS)) return [low, high];
  const values = Array.from({ length: last - first + 1 }, (_, i) => multiple(first + i, step));
  return values.every(Number.isFinite) ? values : [low, ...values.filter((v) => v > low && v < high), high];
}

/**
 * Return powers of ten that enclose a range, or 1, 2 and 5 of each, or round values within one decade.
 * @param {number} low
 * @param {number} high
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

/**
 * Return the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `step`.
 * @param {number} step
 */
function roundStep(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * ([1, 2, 2.5, 5].find((part) => part * power >= step * (1 - 1e-9)) ?? 10);
}

/**
 * Return a range with some room beyond its ends.
 * @param {"linear" | "log"} kind
 * @param {number} low
 * @param {number} high
 * @returns {[number, number]}
 */
function withRoom(kind, low, high) {
  if (kind === "log") {
    const factor = high ** ROOM / low ** ROOM;
    return [low / factor || low, Math.min(high * factor, Number.MAX_VALUE)];
  }
  const room = ROOM * high - ROOM * low;
  return bounded(low - room, high + room);
}

/** Return a range with finite ends. @param {number} low @param {number} high @returns {[number, number]} */
function bounded(low, high) {
  return [Math.max(low, -Number.MAX_VALUE), Math.min(high, Number.MAX_VALUE)];
}

/** Return a multiple of a step without rounding error. @param {number} times @param {number} step */
function multiple(times, step) {
  return Number.isInteger(step) ? times * step : rounded(times * step);
}

/**
 * Return a number without the rounding error of binary fractions: 0.3, not 0.30000000000000004.
 * @param {number} value
 */
function rounded(value) {
  return Number(value.toPrecision(12));
}
