// Plotly figures of a tensor's values: histogram, and heat map of a slice.

import { sliceHeat } from "../slice_heat.js";

/** @typedef {import("../../core/types.js").App} App */

/**
 * Return the Plotly figure of a histogram.
 * @param {App} app
 * @param {import("../../core/answers.js").Counts} histogram
 */
export function histogramFigure(app, histogram) {
  const { edges, counts } = histogram;
  const x = Array.from(counts, (_, i) => (edges[i] + edges[i + 1]) / 2);
  const width = Array.from(counts, (_, i) => edges[i + 1] - edges[i]);
  const trace = {
    type: "bar",
    x,
    y: Array.from(counts),
    width,
    marker: { color: app.theme.colour("--accent") },
    hovertemplate: "%{x:.5g}: %{y}<extra></extra>",
  };
  return {
    data: [trace],
    layout: { ...app.theme.plotly(), bargap: 0, yaxis: app.theme.axis({ rangemode: "tozero" }) },
  };
}

/**
 * Return the Plotly figure of a slice as heat map.
 * @param {App} app
 * @param {Pick<import("../../core/answers.js").Slice, "rows" | "columns" | "window" | "values">} slice
 */
export function sliceFigure(app, slice) {
  const [rows, columns] = slice.window;
  const fold = (/** @type {number} */ total, /** @type {number} */ count) =>
    Array.from({ length: count }, (_, i) => Math.floor((i * total) / count));
  return sliceHeat(app, { ...slice, x: fold(slice.columns, columns), y: fold(slice.rows, rows) });
}
