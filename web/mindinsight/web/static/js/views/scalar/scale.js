// Symmetric logarithmic scale, which Plotly does not have.

import { tickText } from "./ticks.js";

/**
 * @typedef {Object} Scale
 * @property {"linear" | "log" | "date"} type
 * @property {(v: number) => number} to
 * @property {(v: number) => number} from
 * @property {{tickvals: number[], ticktext: string[]}} [ticks]
 */

/** @type {Scale} */
const LINEAR = { type: "linear", to: (v) => v, from: (v) => v };

/**
 * Return the scale of an axis.
 * @param {"linear" | "log" | "symlog"} kind
 * @param {Iterable<ArrayLike<number>>} columns what the axis has to show; decides where symlog turns linear
 * @returns {Scale}
 */
export function scaleOf(kind, columns) {
  if (kind === "log") return { type: "log", to: (v) => v, from: (v) => v };
  return kind === "symlog" ? symlog(columns) : LINEAR;
}

/**
 * Return the scale sign(v) * log10(1 + |v| / c), linear around zero. c is the power of ten below the smallest
 * absolute value, at most six decades below the largest.
 * @param {Iterable<ArrayLike<number>>} columns
 * @returns {Scale}
 */
function symlog(columns) {
  let least = Infinity;
  let most = 0;
  for (const column of columns) {
    for (let i = 0; i < column.length; i++) {
      const size = Math.abs(column[i]);
      if (!Number.isFinite(size) || size === 0) continue;
      if (size < least) least = size;
      if (size > most) most = size;
    }
  }
  if (!most) return LINEAR;
  const top = Math.ceil(Math.log10(most));
  const low = Math.max(Math.floor(Math.log10(least)), top - 6);
  const c = 10 ** low;
  const to = (/** @type {number} */ v) => Math.sign(v) * Math.log10(1 + Math.abs(v) / c);
  const from = (/** @type {number} */ v) => Math.sign(v) * c * (10 ** Math.abs(v) - 1);
  return { type: "linear", to, from, ticks: decades(low, top, to) };
}

/**
 * Return the ticks at powers of ten.
 * @param {number} low
 * @param {number} top
 * @param {(v: number) => number} to
 */
function decades(low, top, to) {
  const stride = Math.max(1, Math.ceil((top - low) / 4));
  const sizes = [];
  for (let power = low; power <= top; power += stride) sizes.push(10 ** power);
  const values = [...sizes.map((v) => -v).reverse(), 0, ...sizes];
  return { tickvals: values.map(to), ticktext: values.map(tickText) };
}
