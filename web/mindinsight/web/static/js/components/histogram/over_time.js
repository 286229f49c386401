// Figures with time on the x axis: heat map of shares, and bands of percentiles.

import { hatchImages } from "../hatching.js";
import { zoneName } from "../../core/format.js";
import { ramp } from "../../core/ramp.js";
import { middles, row, times } from "./series.js";
import { valueAxis } from "./shared_scale.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./series.js").Series} Series */
/** @typedef {import("./shared_scale.js").Scale} Scale */

/**
 * Return the value of the strongest colour: the 90th percentile of the steps' fullest bins. A single step
 * with equal values, such as a bias before its first update, would otherwise leave the others without
 * contrast.
 * @param {Float32Array} peaks of each step
 */
export function strongest(peaks) {
  const sorted = Float32Array.from(peaks).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.9) - 1)] ?? 1;
}

/**
 * Return the Plotly figure of histograms over time as heat map. The colour is the share of the step's values,
 * or the share per unit on a shared scale.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 * @param {Scale | null} [scale]
 */
export function heatFigure(app, series, axis, scale = null) {
  const bins = series.edges.length - 1;
  const unit = scale ? binWidth(series) : 1;
  const z = Array.from({ length: bins }, () => new Float32Array(series.shown));
  const peaks = new Float32Array(series.shown);
  for (let column = 0; column < series.shown; column++) {
    const counts = row(series, column);
    const total = counts.reduce((sum, count) => sum + count, 0) || 1;
    for (let bin = 0; bin < bins; bin++) z[bin][column] = Math.sqrt(counts[bin] / total / unit);
    peaks[column] = Math.sqrt(Math.max(...counts) / total / unit);
  }
  const share = z.map((line) => Float32Array.from(line, (v) => v * v * unit * 100));
  const trace = {
    type: "heatmap",
    x: times(series, axis),
    y: middles(series.edges),
    z,
    customdata: share,
    colorscale: ramp(app),
    showscale: false,
    zmin: 0,
    zmax: scale ? Math.sqrt(scale.peak) : strongest(peaks) || 1,
    hovertemplate: app.t("histogram.cell"),
  };
  const images = nonFiniteSteps(app, series, axis, peaks);
  return {
    data: [trace, ...nonFinite(app, series, axis, peaks)],
    layout: layout(app, axis, { images }, valueAxis(scale, series.edges)),
  };
}

/**
 * Return the hatching over steps without any finite value.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 * @param {Float32Array} peaks 0 for steps without a finite value
 */
function nonFiniteSteps(app, series, axis, peaks) {
  const lost = Array.from(peaks, (peak, i) => (!peak && counted(series, i) ? 1 : null));
  if (!lost.some(Boolean)) return [];
  const [low, high] = [series.edges[0], series.edges[series.edges.length - 1]];
  const quarter = (high - low) / 4;
  const halves = [low + quarter, high - quarter]; // two rows, whose borders are those of the values
  return hatchImages(times(series, axis), halves, [lost, lost], app.theme.colour("--panel"));
}

/** Return the width of the bins, which are all equal. @param {Series} series */
function binWidth({ edges }) {
  return (edges[edges.length - 1] - edges[0]) / (edges.length - 1) || 1;
}

/** Return the number of non-finite values of a step. @param {Series} series @param {number} i */
function counted(series, i) {
  return series.nan[i] + series.positive_infinity[i] + series.negative_infinity[i];
}

/**
 * Return the traces that mark non-finite values: a full bar for steps without a finite value, a triangle at
 * the top for others. A gap would look like a step that was not recorded.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 * @param {Float32Array} peaks 0 for steps without a finite value
 */
function nonFinite(app, series, axis, peaks) {
  const x = times(series, axis);
  const counts = Array.from(peaks, (_, i) => counted(series, i));
  const colour = app.theme.colour("--warn");
  const [low, high] = [series.edges[0], series.edges[series.edges.length - 1]];
  const hovertemplate = app.t("histogram.cell.not_finite");
  const filled = [...counts.keys()].filter((i) => counts[i] && peaks[i]);
  const data = [];
  if (counts.some((count, i) => count && !peaks[i])) {
    data.push({
      type: "heatmap",
      x,
      y: [low, high],
      z: [counts.map((count, i) => (count && !peaks[i] ? 1 : NaN))],
      customdata: [counts],
      colorscale: [0, 1].map((end) => [end, colour]),
      showscale: false,
      hoverongaps: false,
      hovertemplate,
    });
  }
  if (filled.length) {
    data.push({
      type: "scatter",
      mode: "markers",
      x: filled.map((i) => x[i]),
      y: filled.map(() => high),
      customdata: filled.map((i) => counts[i]),
      marker: { symbol: "triangle-down", size: 7, color: colour },
      cliponaxis: false,
      hovertemplate,
    });
  }
  return data;
}

/**
 * Return the Plotly figure of percentiles over time, as bands around the median.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 * @param {Scale | null} [scale]
 */
export function percentileFigure(app, series, axis, scale = null) {
  const x = times(series, axis);
  const colour = app.theme.colour("--accent");
  const lines = series.shares.map((_, at) =>
    Float64Array.from(x, (__, column) => series.percentile[column * series.shares.length + at]),
  );
  const data = [];
  for (let at = 0; at < 4; at++) {
    const shade = ["14", "20", "30", "48"][at];
    const edge = { type: "scatter", mode: "lines", x, line: { width: at === 0 ? 1 : 0, color: colour } };
    const text = (/** @type {number} */ n) => `${series.shares[n]} %: %{y:.4g}<extra></extra>`;
    data.push(
      { ...edge, y: lines[at], hovertemplate: text(at) },
      { ...edge, y: lines[8 - at], fill: "tonexty", fillcolor: colour + shade, hovertemplate: text(8 - at) },
    );
  }
  data.push({
    type: "scatter",
    mode: "lines",
    x,
    y: lines[4],
    line: { color: colour, width: 2 },
    hovertemplate: `${app.t("histogram.median")}: %{y:.4g}<extra></extra>`,
  });
  return { data, layout: layout(app, axis, { hovermode: "x" }, valueAxis(scale, series.edges)) };
}

/**
 * Return the Plotly layout of both figures.
 * @param {App} app
 * @param {string} axis
 * @param {Record<string, unknown>} more
 * @param {ReturnType<typeof valueAxis>} values
 */
function layout(app, axis, more, values) {
  const date = { type: "date", title: { text: zoneName(Date.now() / 1000) } };
  const xaxis = app.theme.axis({ nticks: 6, ...(axis === "wall" ? date : { type: "linear" }) });
  return {
    ...app.theme.plotly(),
    xaxis,
    yaxis: app.theme.axis({ nticks: 6, ...values }),
    ...more,
  };
}
