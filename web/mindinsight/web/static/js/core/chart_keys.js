// Keyboard control of a chart: zoom, pan and reset of its x axis. A page's own key handlers run first.

/** @typedef {[number, number]} Range */

export const SHORTCUTS = "+ - 0 Home ArrowLeft ArrowRight Shift+ArrowLeft Shift+ArrowRight";

const ZOOM = 2;
const PAN = 0.25; // of what is seen

/**
 * Scale a range around its centre. A factor above 1 widens it.
 * @param {Range} range
 * @param {number} factor
 * @returns {Range}
 */
export function widened([low, high], factor) {
  const half = ((high - low) / 2) * factor;
  const middle = low + (high - low) / 2;
  return [middle - half, middle + half];
}

/**
 * Shift a range to the right by a share of its width.
 * @param {Range} range
 * @param {number} share of its width, to the right
 * @returns {Range}
 */
export function moved([low, high], share) {
  const by = (high - low) * share;
  return [low + by, high + by];
}

/** Return whether a range contains all of another range. @param {Range} range @param {Range} other */
function holds([low, high], other) {
  return low <= other[0] && other[1] <= high;
}

/**
 * Return the x range after a key press; null to show the whole axis, undefined if the key has no effect.
 * @param {{key: string, shiftKey: boolean}} event
 * @param {Range} range that is seen
 * @param {Range | null} whole where it is known
 * @returns {Range | null | undefined}
 */
export function rangeAfter({ key }, range, whole) {
  if (key === "+" || key === "=") return widened(range, 1 / ZOOM);
  if (key === "0" || key === "Home") return null;
  if (key === "-" || key === "_") {
    const wide = widened(range, ZOOM);
    return whole && holds(wide, whole) ? null : wide;
  }
  if (key === "ArrowLeft") return moved(range, -PAN);
  return key === "ArrowRight" ? moved(range, PAN) : undefined;
}

/**
 * Handle the zoom and pan keys of a focused Plotly chart.
 * @param {Element} element
 * @param {() => import("./types.js").Plotly | null} plotly what draws it; null while it is not drawn
 */
export function listenToKeys(element, plotly) {
  /** The range of the whole axis, seen last. @type {Range | null} */
  let whole = null;
  /** @type {HTMLElement} */ (element).addEventListener("keydown", (event) => {
    const axis = zoomable(element);
    const drawn = plotly();
    if (!axis || !drawn || event.target !== element || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const range = /** @type {Range} */ (axis.range.map((end) => axis.r2l(end)));
    if (axis.autorange) whole = range;
    const next = rangeAfter(event, range, whole);
    if (next === undefined) return;
    event.preventDefault();
    if (axis.autorange && !(next && holds(range, next) && event.key !== "-")) return; // all of it is seen
    drawn.relayout(element, next ? rangeChange(axis, next) : { "xaxis.autorange": true });
  });
}

/** Return whether a drawn chart can be zoomed by keys. @param {Element} element */
export function takesKeys(element) {
  return zoomable(element) !== null;
}

/** Return the x axis that can be zoomed, or null. @param {Element} element */
function zoomable(element) {
  const layout = /** @type {import("./types.js").Plot} */ (element)._fullLayout;
  const axis = layout?._has?.("cartesian") && layout.dragmode ? layout.xaxis : null;
  return axis?.range && !axis.fixedrange ? { ...axis, range: axis.range } : null;
}

/**
 * Return Plotly's layout update that sets the x range.
 * @param {import("./types.js").DrawnAxis} axis
 * @param {Range} range
 */
function rangeChange(axis, range) {
  return { "xaxis.range[0]": axis.l2r(range[0]), "xaxis.range[1]": axis.l2r(range[1]) };
}
