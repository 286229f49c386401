// Histograms of a tag over the steps of a run, as the server sends them in columns.

import { plotTime } from "../../core/format.js";

/** @typedef {import("../../core/types.js").App} App */

/**
 * @typedef {Object} Series
 * @property {number} count histograms recorded
 * @property {number} shown columns sent
 * @property {number[]} shares
 * @property {Float64Array} step
 * @property {Float64Array} wall
 * @property {Float64Array} edges
 * @property {Float32Array} counts columns × bins
 * @property {Float64Array} percentile columns × shares
 * @property {Record<string, number>} non_finite
 * @property {ArrayLike<number>} nan counts of each column
 * @property {ArrayLike<number>} positive_infinity
 * @property {ArrayLike<number>} negative_infinity
 */

/** Return the positions on the time axis in Plotly's units. @param {Series} series @param {string} axis */
export function times(series, axis) {
  if (axis === "wall") return Float64Array.from(series.wall, plotTime);
  if (axis === "relative") return Float64Array.from(series.wall, (seconds) => seconds - series.wall[0]);
  return series.step;
}

/** Return the centres of the bins. @param {Float64Array} edges */
export function middles(edges) {
  return Float64Array.from({ length: edges.length - 1 }, (_, i) => (edges[i] + edges[i + 1]) / 2);
}

/**
 * Return the note that a chart of the steps needs: "empty" if no value can be drawn, "interpolated" if it
 * shows percentiles, else "".
 * @param {Pick<Series, "counts">} series
 * @param {string} mode
 */
export function noteOf(series, mode) {
  if (!Array.from(series.counts).some((count) => count > 0)) return "empty";
  return mode === "percentile" ? "interpolated" : "";
}

/** Return the counts of one step's bins. @param {Series} series @param {number} column */
export function row(series, column) {
  const bins = series.edges.length - 1;
  return series.counts.subarray(column * bins, (column + 1) * bins);
}

/**
 * Return a step's position on the time axis as text.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 * @param {number} column
 */
export function label(app, series, axis, column) {
  const at = times(series, axis)[column];
  if (axis === "wall") return app.format.time(at / 1000);
  return axis === "relative" ? app.format.duration(at) : app.format.step(at);
}
