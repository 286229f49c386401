// Keyboard control of the cursor: arrows move from point to point, Enter lists the values, Escape ends it.

import { xColumn } from "./curve.js";

/** @typedef {{clientX: number, clientY: number, shiftKey: boolean}} Place in the window */
/**
 * What keys do with the cursor.
 * @typedef {Object} Actions
 * @property {() => import("./cursor.js").Axes | null} axes of the chart
 * @property {(x: number, y: number, at: Place) => void} look
 * @property {(x: number) => void} pick
 * @property {() => void} clear
 */

const STRIDE = 6; // px at least from place to place, so that a long curve is crossed in a few seconds

/**
 * Return the nearest point in a direction that is at least some pixels away; null if there is none.
 * @param {ArrayLike<number>[]} columns x of the points of each curve
 * @param {(x: number) => number} pixel
 * @param {number} from px; beyond the plot for its first or last point
 * @param {number} sign 1 to the right
 * @param {number} width of the plot in px
 */
export function nextPoint(columns, pixel, from, sign, width) {
  let best = null;
  let least = Infinity;
  for (const column of columns) {
    for (let i = 0; i < column.length; i++) {
      const at = pixel(column[i]);
      const away = (at - from) * sign;
      if (at < -1 || at > width + 1 || away < STRIDE || away >= least) continue;
      [best, least] = [column[i], away];
    }
  }
  return best;
}

/**
 * Handle the keys of a chart.
 * @param {HTMLElement} element a chart's
 * @param {import("./cursor.js").Member} member
 * @param {Actions} cursor
 */
export function cursorKeys(element, member, cursor) {
  /** Where the cursor is, in the units of the curves. @type {number | null} */
  let place = null;
  const clear = () => {
    if (place === null) return;
    place = null;
    cursor.clear();
  };
  const go = (/** @type {number} */ sign) => {
    const scales = member.scales();
    const layout = cursor.axes();
    if (!scales || !layout?.xaxis?._length) return;
    const { _length: width, _offset: left } = layout.xaxis;
    const pixel = (/** @type {number} */ x) => layout.xaxis.c2p(scales.x.to(x));
    const { at, x: axis } = member.options();
    const begin = place ?? (at === null ? null : axis === "wall" ? 1000 * at : at);
    const from = begin === null ? (sign > 0 ? -2 * STRIDE : width + 2 * STRIDE) : pixel(begin);
    const columns = member.lines().map(({ curve }) => xColumn(curve, axis));
    place = nextPoint(columns, pixel, from, sign, width) ?? place;
    if (place === null) return;
    const box = element.getBoundingClientRect();
    const [across, down] = [pixel(place), layout.yaxis._length / 2];
    const clientX = box.left + left + across;
    cursor.look(place, down, { clientX, clientY: box.top + layout.yaxis._offset + down, shiftKey: false });
  };
  element.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.target !== element || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") go(-1);
    else if (event.key === "ArrowRight") go(1);
    else if (event.key === "Enter" && place !== null) cursor.pick(place);
    else if (event.key === "Escape" && place !== null) clear();
    else return;
    event.preventDefault();
  });
  element.addEventListener("blur", clear);
}
