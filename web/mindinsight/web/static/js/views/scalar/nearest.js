// Search for the points of curves nearest to a position.

import { reaches, smoothedValues, xColumn } from "./curve.js";

const CLOSE = 8; // px that a curve may begin after the pointer, or end before it

/** @typedef {import("./curve.js").Line} Line */
/** @typedef {import("./cursor.js").Member} Member */
/**
 * @typedef {Object} Near
 * @property {Line} line
 * @property {number} row
 * @property {number} away px from the pointer
 * @property {boolean} ended the curve ends before the place
 */

/**
 * Return each curve's nearest point, sorted by the curve's distance from the pointer. The distance from a
 * curve that has ended includes how far the pointer is beyond its end.
 * @param {Member} member
 * @param {import("./curve.js").Scales} scales
 * @param {import("./cursor.js").Axes} layout
 * @param {number} x
 * @param {number} y px
 * @returns {Near[]}
 */
export function nearest(member, scales, { xaxis, yaxis }, x, y) {
  const axis = member.options().x;
  const pixel = (/** @type {number} */ at) => xaxis.c2p(scales.x.to(at));
  /** @type {Near[]} */
  const rows = [];
  for (const line of member.lines()) {
    const column = xColumn(line.curve, axis);
    const row = closest(column, x);
    if (row < 0) continue;
    const beyond = reaches(line.curve, axis, x) ? 0 : pixel(column[row]) - pixel(x);
    if (beyond > CLOSE) continue; // it has not begun
    const value = smoothedValues(line.curve)[row];
    const height = Number.isFinite(value) ? yaxis.c2p(scales.y.to(value)) : yaxis._length;
    rows.push({ line, row, away: Math.hypot(height - y, beyond), ended: beyond < -CLOSE });
  }
  return rows.sort((a, b) => a.away - b.away);
}

/**
 * Return the row nearest to a position in an ascending column; -1 if it is empty.
 * @param {ArrayLike<number>} column
 * @param {number} x
 */
export function closest(column, x) {
  let low = 0;
  let high = column.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < x) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && Math.abs(column[low - 1] - x) <= Math.abs(column[low] - x)) low--;
  return column.length ? low : -1;
}
