// Plotly figure of a comparison: curves over each other, and below them their differences to the baseline.

import { smoothedValues } from "./curve.js";
import { scaleOf } from "./scale.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("../../core/answers.js").ComparedSeries} Compared */

const PERCENT = 100;

/**
 * Return the Plotly figure of runs compared with a baseline: curves above, differences below, a dotted line
 * where a run diverges.
 * @param {App} app
 * @param {import("../../core/answers.js").ComparedScalars} response
 * @param {import("./curve.js").Line[]} lines
 * @param {Options} options
 */
export function differenceFigure(app, response, lines, options) {
  const { theme } = app;
  const scale = scaleOf(
    options.y,
    lines.map(({ curve }) => smoothedValues(curve)),
  );
  const percent = options.difference === "percent" && response.series.every(hasShares);
  const colours = new Map(lines.map(({ curve, colour }) => [curve.run, colour]));
  const limit = response.tolerance * PERCENT;
  const band = {
    type: "rect",
    xref: "paper",
    yref: "y2",
    x0: 0,
    x1: 1,
    y0: -limit,
    y1: limit,
    fillcolor: theme.colour("--ok"),
    opacity: 0.12,
    line: { width: 0 },
  };
  const unit = app.t(percent ? "scalar.compare.relative" : "scalar.compare.difference");
  return {
    data: [
      ...lines.map((line) => curveTrace(line, scale)),
      ...response.series.map((series) => differenceTrace(app, series, percent, colours.get(series.run))),
    ],
    layout: {
      ...theme.plotly(),
      xaxis: theme.axis({ anchor: "y2", nticks: 6 }),
      yaxis: theme.axis({ domain: [0.45, 1], type: scale.type, ...scale.ticks, nticks: 4 }),
      yaxis2: theme.axis({ domain: [0, 0.37], title: { text: unit }, nticks: 4 }),
      shapes: [...(percent ? [band] : []), ...divergenceLines(app, response.series, colours)],
      hovermode: "closest",
    },
  };
}

/**
 * Return whether differences can be drawn as shares of the baseline. Where it is 0 at all steps they cannot.
 * @param {{relative: Float64Array, difference: Float64Array}} series
 */
function hasShares({ relative, difference }) {
  return relative.some(Number.isFinite) || !difference.some(Number.isFinite);
}

/**
 * Return the trace of a curve.
 * @param {import("./curve.js").Line} line
 * @param {import("./scale.js").Scale} scale
 */
function curveTrace({ label, colour, dash, curve }, scale) {
  const values = smoothedValues(curve);
  return {
    type: "scatter",
    mode: "lines",
    x: curve.step,
    y: Float64Array.from(values, scale.to),
    customdata: values,
    line: { color: colour, width: 1.6, dash },
    name: label,
    hovertemplate: "%{x}: %{customdata:.4g}",
  };
}

/**
 * Return the trace of a run's difference to the baseline. What is not drawn of it is in the tooltip.
 * @param {App} app
 * @param {Compared} series
 * @param {boolean} percent
 * @param {string} [colour] of its curve
 */
function differenceTrace(app, series, percent, colour = app.selection.colour(series.run)) {
  const relative = Float64Array.from(series.relative, (share) => share * PERCENT);
  return {
    type: "scatter",
    mode: "lines",
    x: series.step,
    y: percent ? relative : series.difference,
    customdata: percent ? series.difference : relative,
    yaxis: "y2",
    line: { color: colour, width: 1.6, dash: app.selection.dash(series.run) },
    name: app.selection.run(series.run)?.name ?? series.run,
    hovertemplate: percent ? "%{x}: %{y:.4g} % (%{customdata:.4g})" : "%{x}: %{y:.4g} (%{customdata:.4g} %)",
  };
}

/**
 * Return a dotted line for each run that diverges.
 * @param {App} app
 * @param {Compared[]} series
 * @param {Map<string, string>} colours of the curves, by run
 */
function divergenceLines(app, series, colours) {
  return series.flatMap(({ run, parted }) => {
    if (parted === null) return [];
    const line = { color: colours.get(run) ?? app.selection.colour(run), width: 1, dash: "dot" };
    return [{ type: "line", x0: parted, x1: parted, yref: "paper", y0: 0, y1: 1, line }];
  });
}
