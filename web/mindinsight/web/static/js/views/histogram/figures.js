// One answer of histograms over steps, in four pictures.

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

/** Usual peaks that an outline may be tall. */
const HIGHEST = 1.5;

/** Where the columns lie on the time axis, in Plotly's units. @param {Series} series @param {string} axis */
export function times(series, axis) {
  if (axis === "wall") return Float64Array.from(series.wall, (seconds) => seconds * 1000);
  if (axis === "relative") return Float64Array.from(series.wall, (seconds) => seconds - series.wall[0]);
  return series.step;
}

/** @param {Float64Array} edges */
function middles(edges) {
  return Float64Array.from({ length: edges.length - 1 }, (_, i) => (edges[i] + edges[i + 1]) / 2);
}

/** @param {Series} series @param {number} column */
function row(series, column) {
  const bins = series.edges.length - 1;
  return series.counts.subarray(column * bins, (column + 1) * bins);
}

/** Perceptually even, from the panel's colour to the accent. @param {App} app */
export function ramp(app) {
  return app.theme.dark()
    ? [
        [0, app.theme.colour("--panel")],
        [0.25, "#1d4f63"],
        [0.6, "#2e9c9a"],
        [1, "#f3f5b0"],
      ]
    : [
        [0, app.theme.colour("--panel")],
        [0.25, "#a8d5d3"],
        [0.6, "#1f8a93"],
        [1, "#123a5c"],
      ];
}

/**
 * The value of the strongest colour: what nine of ten steps stay below with their fullest bin. One step whose
 * values are all alike, as before the first update of a bias, would leave every other without contrast.
 * @param {Float32Array} peaks of each step
 */
export function strongest(peaks) {
  const sorted = Float32Array.from(peaks).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.9) - 1)] ?? 1;
}

/**
 * Step × value, the colour is the share of the step's values.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 */
export function heat(app, series, axis) {
  const bins = series.edges.length - 1;
  const z = Array.from({ length: bins }, () => new Float32Array(series.shown));
  const peaks = new Float32Array(series.shown);
  for (let column = 0; column < series.shown; column++) {
    const counts = row(series, column);
    const total = counts.reduce((sum, count) => sum + count, 0) || 1;
    for (let bin = 0; bin < bins; bin++) z[bin][column] = Math.sqrt(counts[bin] / total);
    peaks[column] = Math.sqrt(Math.max(...counts) / total);
  }
  const share = z.map((line) => Float32Array.from(line, (v) => v * v * 100));
  const trace = {
    type: "heatmap",
    x: times(series, axis),
    y: middles(series.edges),
    z,
    customdata: share,
    colorscale: ramp(app),
    showscale: false,
    zmin: 0,
    zmax: strongest(peaks) || 1,
    hovertemplate: app.t("histogram.cell"),
  };
  return { data: [trace, ...notFinite(app, series, axis, peaks)], layout: layout(app, axis, {}) };
}

/**
 * What is not finite, over the map: steps without any finite value as bars of full height, others with some
 * as marks at the upper edge. A blank would look like a step that was not recorded.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 * @param {Float32Array} peaks 0 for steps without a finite value
 */
function notFinite(app, series, axis, peaks) {
  const x = times(series, axis);
  const counts = Array.from(
    peaks,
    (_, i) => series.nan[i] + series.positive_infinity[i] + series.negative_infinity[i],
  );
  const colour = app.theme.colour("--warn");
  const [low, high] = [series.edges[0], series.edges[series.edges.length - 1]];
  const hovertemplate = app.t("histogram.cell.not_finite");
  const some = [...counts.keys()].filter((i) => counts[i] && peaks[i]);
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
  if (some.length) {
    data.push({
      type: "scatter",
      mode: "markers",
      x: some.map((i) => x[i]),
      y: some.map(() => high),
      customdata: some.map((i) => counts[i]),
      marker: { symbol: "triangle-down", size: 7, color: colour },
      cliponaxis: false,
      hovertemplate,
    });
  }
  return data;
}

/**
 * The percentiles as bands around the median.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 */
export function bands(app, series, axis) {
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
  return { data, layout: layout(app, axis, { hovermode: "x" }) };
}

/**
 * The peak that most steps stay below: one step with all values in one bucket must not flatten the others.
 * @param {Series} series
 */
function usualPeak(series) {
  const peaks = Array.from({ length: series.shown }, (_, column) =>
    row(series, column).reduce((a, b) => Math.max(a, b), 0),
  ).sort((a, b) => a - b);
  return peaks[Math.floor(0.9 * (peaks.length - 1))] || 1;
}

/**
 * One outline behind the other, the newest in front.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 */
export function ridge(app, series, axis) {
  const x = middles(series.edges);
  const most = usualPeak(series);
  const gap = 1;
  const tall = Math.max(3, series.shown / 7);
  const data = [];
  for (let column = 0; column < series.shown; column++) {
    const base = (series.shown - 1 - column) * gap;
    const y = Float64Array.from(
      row(series, column),
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
  const every = Math.max(1, Math.ceil(series.shown / 6));
  const marked = Array.from({ length: series.shown }, (_, i) => i).filter((i) => i % every === 0);
  const yaxis = app.theme.axis({
    tickvals: marked.map((i) => (series.shown - 1 - i) * gap),
    ticktext: marked.map((i) => label(app, series, axis, i)),
    showgrid: false,
    side: "right",
  });
  return {
    data,
    layout: { ...app.theme.plotly(), xaxis: app.theme.axis({ nticks: 6 }), yaxis, hovermode: "closest" },
  };
}

/**
 * All steps over each other, old ones faint; a peak far above the usual runs out of the frame.
 * @param {App} app
 * @param {Series} series
 * @param {string} axis
 */
export function overlay(app, series, axis) {
  const x = middles(series.edges);
  const most = series.counts.reduce((a, b) => Math.max(a, b), 0);
  const range = [0, 1.04 * Math.min(most, HIGHEST * usualPeak(series)) || 1];
  const data = Array.from({ length: series.shown }, (_, column) => ({
    type: "scatter",
    mode: "lines",
    x,
    y: row(series, column),
    line: { width: 1.2, color: mix(app, column / Math.max(1, series.shown - 1)) },
    hovertemplate: `${label(app, series, axis, column)}<br>%{x:.4g}: %{y:.4g}<extra></extra>`,
  }));
  return {
    data,
    layout: {
      ...app.theme.plotly(),
      xaxis: app.theme.axis({ nticks: 6 }),
      yaxis: app.theme.axis({ nticks: 4, range }),
      hovermode: "closest",
    },
  };
}

/** Several runs at one step, as outlines of their own buckets. @param {App} app @param {any[]} runs */
export function beside(app, runs) {
  const data = runs.map((one) => {
    const x = [];
    const y = [];
    for (let i = 0; i < one.left.length; i++) {
      const density = one.width[i]
        ? one.counts[i] / Math.abs(one.width[i]) / Math.max(1, one.count)
        : one.counts[i];
      x.push(one.left[i], one.left[i] + one.width[i]);
      y.push(density, density);
    }
    const colour = app.selection.colour(one.run);
    return {
      type: "scatter",
      mode: "lines",
      x,
      y,
      name: app.selection.run(one.run)?.name ?? one.run,
      line: { color: colour, width: 1.6, dash: app.selection.dash(one.run) },
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

/** @param {App} app @param {Series} series @param {string} axis @param {number} column */
function label(app, series, axis, column) {
  const at = times(series, axis)[column];
  if (axis === "wall") return app.format.time(at / 1000);
  return axis === "relative" ? app.format.duration(at) : app.format.number(at);
}

/** From faint to strong by age. @param {App} app @param {number} share */
function mix(app, share) {
  const [from, to] = app.theme.dark()
    ? [
        [35, 62, 74],
        [126, 226, 214],
      ]
    : [
        [198, 224, 224],
        [0, 92, 110],
      ];
  return `rgb(${from.map((part, i) => Math.round(part + (to[i] - part) * share)).join(",")})`;
}

/** @param {App} app @param {string} axis @param {Record<string, any>} more */
function layout(app, axis, more) {
  const xaxis = app.theme.axis({ nticks: 6, type: axis === "wall" ? "date" : "linear" });
  return { ...app.theme.plotly(), xaxis, yaxis: app.theme.axis({ nticks: 6 }), ...more };
}
