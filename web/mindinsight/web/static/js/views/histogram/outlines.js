// Figures of densities as outlines: ridges, overlay of all steps, and runs at one step.

import { densities, valueAxis } from "../../components/histogram/shared_scale.js";
import { label, middles, row } from "../../components/histogram/series.js";

/**
 * Histogram of one run at one step.
 * @typedef {{run: string, step: number, count: number, left: Numbers, width: Numbers, counts: Numbers,
 *   [kind: string]: unknown}} RunHistogram
 */
/** @typedef {import("../../core/types.js").Numbers} Numbers */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../components/histogram/series.js").Series} Series */
/** @typedef {import("../../components/histogram/shared_scale.js").Scale} Scale */

/** Height of an outline at most, in usual peaks. */
const HIGHEST = 1.5;

/**
 * Return the 90th percentile of the steps' peaks, so that a single step with equal values does not flatten
 * the others.
 * @param {Series} series
 */
function usualPeak(series) {
  const peaks = Array.from({ length: series.shown }, (_, column) =>
    row(series, column).reduce((a, b) => Math.max(a, b), 0),
  ).sort((a, b) => a - b);
  return peaks[Math.floor(0.9 * (peaks.length - 1))] || 1;
}

/**
 * Return the Plotly figure of a run's histograms as ridges: outlines behind each other, newest in front.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 * @param {Scale | null} [scale] shared with other cards
 */
export function ridgeFigure(app, series, axis, scale = null) {
  const x = middles(series.edges);
  const most = scale?.peak ?? usualPeak(series);
  const gap = 1;
  const tall = Math.max(3, series.shown / 7);
  const data = [];
  for (let column = 0; column < series.shown; column++) {
    const base = (series.shown - 1 - column) * gap;
    const y = Float64Array.from(
      scale ? densities(series, column) : row(series, column),
      (count) => base + Math.min(count / most, HIGHEST) * tall,
    );
    const tint = mix(app, column / Math.max(1, series.shown - 1));
    data.push({
      type: "scatter",
      mode: "lines",
      x,
      y: new Float64Array(x.length).fill(base),
      line: { width: 0 },
      hoverinfo: "skip",
    });
    data.push({
      type: "scatter",
      mode: "lines",
      x,
      y,
      fill: "tonexty",
      fillcolor: tint,
      line: { width: 1, color: app.theme.colour("--panel") },
      customdata: row(series, column),
      hovertemplate: `${label(app, series, axis, column)}<br>%{x:.4g}: %{customdata:.4g}<extra></extra>`,
    });
  }
  const stride = Math.max(1, Math.ceil(series.shown / 6));
  const marked = Array.from({ length: series.shown }, (_, i) => i).filter((i) => i % stride === 0);
  const yaxis = app.theme.axis({
    tickvals: marked.map((i) => (series.shown - 1 - i) * gap),
    ticktext: marked.map((i) => label(app, series, axis, i)),
    showgrid: false,
    side: "right",
  });
  return {
    data,
    layout: {
      ...app.theme.plotly(),
      xaxis: app.theme.axis({ nticks: 6, ...valueAxis(scale, series.edges) }),
      yaxis,
      hovermode: "closest",
    },
  };
}

/**
 * Return the Plotly figure of a run's histograms as outlines over each other, old ones faint.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 * @param {Scale | null} [scale] shared with other cards
 */
export function overlayFigure(app, series, axis, scale = null) {
  const x = middles(series.edges);
  const most = series.counts.reduce((a, b) => Math.max(a, b), 0);
  const top = scale ? HIGHEST * scale.peak : Math.min(most, HIGHEST * usualPeak(series));
  const range = [0, 1.04 * top || 1];
  const data = Array.from({ length: series.shown }, (_, column) => ({
    type: "scatter",
    mode: "lines",
    x,
    y: scale ? densities(series, column) : row(series, column),
    line: { width: 1.2, color: mix(app, column / Math.max(1, series.shown - 1)) },
    hovertemplate: `${label(app, series, axis, column)}<br>%{x:.4g}: %{y:.4g}<extra></extra>`,
  }));
  return {
    data,
    layout: {
      ...app.theme.plotly(),
      xaxis: app.theme.axis({ nticks: 6, ...valueAxis(scale, series.edges) }),
      yaxis: app.theme.axis({ nticks: 4, range }),
      hovermode: "closest",
    },
  };
}

/**
 * Return the Plotly figure of the histograms of several runs at one step, as outlines.
 * @param {App} app
 * @param {RunHistogram[]} histograms
 */
export function stepFigure(app, histograms) {
  const data = histograms.map((histogram) => {
    const x = [];
    const y = [];
    for (let i = 0; i < histogram.left.length; i++) {
      const density = histogram.width[i]
        ? histogram.counts[i] / Math.abs(histogram.width[i]) / Math.max(1, histogram.count)
        : histogram.counts[i];
      x.push(histogram.left[i], histogram.left[i] + histogram.width[i]);
      y.push(density, density);
    }
    const colour = app.selection.colour(histogram.run);
    return {
      type: "scatter",
      mode: "lines",
      x,
      y,
      name: app.selection.run(histogram.run)?.name ?? histogram.run,
      line: { color: colour, width: 1.6, dash: app.selection.dash(histogram.run) },
      fill: "tozeroy",
      fillcolor: `${colour}1c`,
      hovertemplate: "%{x:.4g}: %{y:.4g}",
    };
  });
  return {
    data,
    layout: {
      ...app.theme.plotly(),
      xaxis: app.theme.axis({ nticks: 6 }),
      yaxis: app.theme.axis({ nticks: 4, rangemode: "tozero" }),
      hovermode: "closest",
    },
  };
}
