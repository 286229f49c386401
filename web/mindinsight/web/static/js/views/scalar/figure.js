// Plotly figure of a scalar chart: traces of its curves, axes, threshold and alert lines.

import { reaches, xColumn } from "./curve.js";
import { merged } from "./merge.js";
import { withRoomForLabels } from "../../core/sketch/margins.js";
import { scaleOf } from "./scale.js";
import { beyond, tracesOf } from "./traces.js";
import { stepTicks, valueAxis } from "./value_axis.js";

/** Curves beyond which a chart is a cloud rather than lines to follow. */
const MANY = 40;

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./curve.js").Line} Line */
/** @typedef {import("./traces.js").Pen} Pen */

/**
 * @param {App} app
 * @param {Line[]} lines
 * @param {Options} options
 * @param {import("./threshold.js").Threshold | null} threshold
 * @param {[number, number]} [tall] range of y that is looked at in this chart
 * @param {import("./alert_marks.js").Mark[]} [marks]
 * @returns {import("../../core/charts.js").Figure & {scales: import("./curve.js").Scales}}
 */
export function figure(app, lines, options, threshold = null, tall = undefined, marks = []) {
  const yScale = scaleOf(
    options.y,
    lines.map(({ curve }) => curve.value),
  );
  const xScale =
    options.x === "wall"
      ? scaleOf("linear", [])
      : scaleOf(
          options.logX,
          lines.map(({ curve }) => xColumn(curve, options.x)),
        );
  const marked = markedX(options, lines, xScale);
  const many = lines.length > MANY;
  const { axis, clip } = valueAxis(lines, options, yScale, many, tall);
  const pen = { app, options, xScale, yScale, range: clip, many };
  /** @type {any[]} */
  const traces = lines.flatMap((curve) => tracesOf(pen, curve));
  const data = many ? merged(traces) : traces;
  if (threshold) data.push(...lines.flatMap((curve) => beyond(pen, curve, threshold)));
  const sheet = {
    ...layout(pen, threshold, marked, marks),
    xaxis: xAxis(pen, lines),
    yaxis: app.theme.axis({ type: yScale.type, ...axis }),
  };
  return {
    data,
    layout: withRoomForLabels(sheet),
    sketch: true,
    config: { doubleClick: "autosize" },
    scales: { x: xScale, y: yScale },
  };
}

/**
 * Where the clicked place is drawn; null where no curve is, for a line out there would stretch the axis.
 * @param {Options} options
 * @param {Line[]} lines
 * @param {import("./scale.js").Scale} scale
 */
function markedX(options, lines, scale) {
  const at = options.at === null || options.x !== "wall" ? options.at : 1000 * options.at;
  if (at === null || !lines.some(({ curve }) => reaches(curve, options.x, at))) return null;
  return scale.ticks ? scale.to(at) : at;
}

/** A line over the whole height. @param {number} x @param {Record<string, any>} line */
function upLine(x, line) {
  return { type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line };
}

/**
 * @param {Pen} pen
 * @param {import("./threshold.js").Threshold | null} threshold
 * @param {number | null} marked
 * @param {import("./alert_marks.js").Mark[]} marks
 */
function layout({ app, xScale, yScale }, threshold, marked, marks) {
  const { theme } = app;
  /** @type {any[]} */
  const lines = (threshold?.bounds() ?? []).map((v) => ({
    type: "line",
    xref: "paper",
    x0: 0,
    x1: 1,
    y0: yScale.to(v),
    y1: yScale.to(v),
    line: { color: theme.colour("--bad"), width: 1, dash: "dot" },
  }));
  lines.push(
    ...marks.map(({ x, colour }) => ({
      ...upLine(xScale.ticks ? xScale.to(x) : x, { color: colour, width: 1, dash: "dot" }),
      opacity: 0.7,
    })),
  );
  if (marked !== null) {
    lines.push(upLine(marked, { color: theme.colour("--accent"), width: 1, dash: "solid" }));
  }
  return {
    ...theme.plotly(),
    yaxis2: { overlaying: "y", range: [0, 1], fixedrange: true, visible: false },
    shapes: lines,
    hovermode: false,
  };
}

/** @param {Pen} pen @param {Line[]} lines */
function xAxis({ app, options, xScale }, lines) {
  const zoom = options.zoom?.map(
    xScale.ticks
      ? xScale.to
      : options.logX === "log" && options.x !== "wall"
        ? Math.log10
        : (v) => (options.x === "wall" ? v * 1000 : v),
  );
  return app.theme.axis({
    type: options.x === "wall" ? "date" : xScale.type,
    ...(xScale.ticks ?? stepTicks(lines, options)),
    ...(zoom ? { range: zoom } : {}),
    nticks: 6,
  });
}
