// Plotly figures of a tensor's values: histogram, and heat map of a slice.

import { ramp } from "../../core/ramp.js";

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
 * Return the Plotly figure of a slice as heat map. Non-finite values have their own colour.
 * @param {App} app
 * @param {Pick<import("../../core/answers.js").Slice, "rows" | "columns" | "window" | "values">} slice
 */
export function sliceFigure(app, slice) {
  const [rows, columns] = slice.window;
  const z = Array.from({ length: rows }, (_, row) =>
    Array.from(slice.values.subarray(row * columns, (row + 1) * columns)),
  );
  const fold = (/** @type {number} */ total, /** @type {number} */ count) =>
    Array.from({ length: count }, (_, i) => Math.floor((i * total) / count));
  const trace = {
    type: "heatmap",
    z,
    x: fold(slice.columns, columns),
    y: fold(slice.rows, rows),
    colorscale: ramp(app),
    colorbar: { thickness: 10, tickfont: { size: 10 } },
    hovertemplate: "[%{y}, %{x}] %{z:.6g}<extra></extra>",
  };
  const bad = app.theme.colour("--bad");
  const lost = {
    type: "heatmap",
    z: z.map((line) => line.map((value) => (Number.isFinite(value) ? null : 1))),
    text: z.map((line) => line.map(String)),
    x: trace.x,
    y: trace.y,
    colorscale: [
      [0, bad],
      [1, bad],
    ],
    showscale: false,
    hoverongaps: false,
    hovertemplate: "[%{y}, %{x}] %{text}<extra></extra>",
  };
  return {
    data: [trace, lost],
    layout: { ...app.theme.plotly(), yaxis: app.theme.axis({ autorange: "reversed" }) },
  };
}
