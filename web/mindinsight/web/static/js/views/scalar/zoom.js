// Conversion of zooms between Plotly's units and the data's.

/** @typedef {[number, number]} Range */
/** @typedef {{r2c: (end: unknown) => number}} PlotlyAxis from what stands in a range to a number */

/**
 * Return the zoom after a change of the layout. Null means a zoom was undone, undefined that an axis did not
 * change.
 * @param {Record<string, unknown>} change of "plotly_relayout"
 * @param {{xaxis: PlotlyAxis, yaxis: PlotlyAxis}} layout
 * @param {import("./curve.js").Scales} scales
 * @param {boolean} wall whether x is in milliseconds
 * @returns {{zoom?: Range | null, tall?: Range | null}}
 */
export function zoomed(change, layout, scales, wall) {
  /** @type {{zoom?: Range | null, tall?: Range | null}} */
  const next = {};
  if (change["yaxis.autorange"]) next.tall = null;
  if (change["xaxis.autorange"]) next.zoom = null;
  const up = ends(change, "yaxis", (end) => scales.y.from(layout.yaxis.r2c(end)));
  const across = ends(change, "xaxis", (end) => scales.x.from(layout.xaxis.r2c(end)) / (wall ? 1000 : 1));
  if (up) next.tall = up;
  if (across) next.zoom = across;
  return next;
}

/**
 * Return the new range of an axis; null if it did not change.
 * @param {Record<string, unknown>} change
 * @param {string} axis
 * @param {(end: unknown) => number} value
 * @returns {Range | null}
 */
function ends(change, axis, value) {
  const [low, high] = [change[`${axis}.range[0]`], change[`${axis}.range[1]`]];
  return low === undefined ? null : [value(low), value(high)];
}

/**
 * Return a range in the units of the y axis; null if the axis cannot show it.
 * @param {Range} range
 * @param {import("./scale.js").Scale} scale
 * @returns {Range | null}
 */
export function upright(range, scale) {
  const to = scale.type === "log" ? Math.log10 : scale.to;
  const [low, high] = range.map(to);
  return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : null;
}
