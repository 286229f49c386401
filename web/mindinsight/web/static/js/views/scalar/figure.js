// Plotly figure of a scalar chart: traces of curves, axes, thresholds and alert marks.

import { reaches, stretchesOf, xColumn } from "./curve.js";
import { endLabels } from "./line_ends.js";
import { merged } from "./merge.js";
import { withRoomForLabels } from "../../core/sketch/margins.js";
import { scaleOf } from "./scale.js";
import { extent } from "./ticks.js";
import { beyond, tracesOf } from "./traces.js";
import { stepTicks, valueAxis } from "./value_axis.js";

/** Curves beyond which a chart is a cloud rather than lines to follow. */
export const MANY = 40;
/** Widths of an axis that grows, until it is twice as wide. */
const ROOMS = 16;

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").PlotlyShape} PlotlyShape */
/** @typedef {import("./merge.js").Trace} Trace */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./curve.js").Line} Line */
/** @typedef {import("./traces.js").Pen} Pen */

/** Traces of curves as drawn last, and what for. @type {WeakMap<object, {key: string, traces: Trace[]}>} */
const drawn = new WeakMap();

/** Cache of the traces that stay unchanged while other curves grow. */
export class Still {
  /** Runs whose curves grow. @type {Set<string>} */
  growing = new Set();
  /** @type {Trace[]} */
  #parts = [];
  /** @type {Trace[]} */
  #traces = [];

  /**
   * Return the traces; the same array as before if they are unchanged.
   * @param {Trace[]} parts
   * @param {boolean} many
   */
  traces(parts, many) {
    if (parts.length !== this.#parts.length || parts.some((part, i) => part !== this.#parts[i])) {
      [this.#parts, this.#traces] = [parts, many ? merged(parts) : parts];
    }
    return this.#traces;
  }
}

/**
 * Return the Plotly figure of a chart's curves, and the scales of its axes.
 * @param {App} app
 * @param {Line[]} lines
 * @param {Options} options
 * @param {import("./threshold.js").Threshold | null} threshold
 * @param {[number, number]} [tall] range of y that is looked at in this chart
 * @param {import("./alert_marks.js").Mark[]} [marks]
 * @param {Still} [still] of a chart that is drawn again as its curves grow
 * @returns {import("../../core/charts.js").Figure & {scales: import("./curve.js").Scales}}
 */
export function figure(
  app,
  lines,
  options,
  threshold = null,
  tall = undefined,
  marks = [],
  still = new Still(),
) {
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
  const view = JSON.stringify([options.x, many, clip, xScale.ticks, yScale.ticks]);
  const grows = (/** @type {Line} */ { curve }) => still.growing.has(curve.run);
  const [growing, ended] = [lines.filter(grows), lines.filter((line) => !grows(line))];
  const back = still.traces(
    ended.flatMap((line) => tracesOnce(pen, line, view)),
    many,
  );
  const front = growing.flatMap((line) => tracesOf(pen, line));
  if (threshold) front.push(...lines.flatMap((curve) => beyond(pen, curve, threshold)));
  const sheet = {
    ...layout(pen, threshold, marked, marks),
    xaxis: xAxis(pen, lines, growing.length > 0),
    yaxis: app.theme.axis({ type: yScale.type, ...axis }),
  };
  const data = [...back, ...front];
  const annotations = options.zoom || tall ? [] : namesAtEnds(app, data, sheet);
  return {
    data,
    layout: withRoomForLabels({ ...sheet, annotations }),
    sketch: true,
    still: growing.length ? back : undefined,
    config: { doubleClick: "autosize" },
    scales: { x: xScale, y: yScale },
  };
}

/**
 * Return the names at the ends of curves; none on a logarithmic x axis, or where the range of y is unknown.
 * @param {App} app
 * @param {Trace[]} data
 * @param {{xaxis: import("../../core/types.js").PlotlyAxis, yaxis: import("../../core/types.js").PlotlyAxis}}
 *   sheet
 */
function namesAtEnds(app, data, { xaxis, yaxis }) {
  const across = extent(
    "linear",
    data.map(({ x }) => x),
  );
  if (!across || !yaxis.range || xaxis.type === "log") return [];
  const { size } = app.theme.plotly().font;
  return endLabels(data, { x: across, y: yaxis.range, log: yaxis.type === "log" }, size);
}

/**
 * Return a curve's traces, reused if they look the same as before.
 * @param {Pen} pen
 * @param {Line} line
 * @param {string} view what all curves depend on
 */
function tracesOnce(pen, line, view) {
  const key = [
    view,
    line.colour,
    line.dash,
    line.label,
    line.quiet,
    line.before?.map(({ run }) => run),
  ].join();
  const before = drawn.get(line.curve);
  if (before?.key === key) return before.traces;
  const traces = tracesOf(pen, line);
  drawn.set(line.curve, { key, traces });
  return traces;
}

/**
 * Return where the clicked position is drawn; null if no curve reaches it, because a line there would widen
 * the axis.
 * @param {Options} options
 * @param {Line[]} lines
 * @param {import("./scale.js").Scale} scale
 */
function markedX(options, lines, scale) {
  const at = options.at === null || options.x !== "wall" ? options.at : 1000 * options.at;
  if (at === null || !lines.some(({ curve }) => reaches(curve, options.x, at))) return null;
  return scale.ticks ? scale.to(at) : at;
}

/** Return a vertical line over the whole height. @param {number} x @param {PlotlyShape["line"]} line */
function upLine(x, line) {
  return { type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line };
}

/**
 * Return the layout with thresholds and marks.
 * @param {Pen} pen
 * @param {import("./threshold.js").Threshold | null} threshold
 * @param {number | null} marked
 * @param {import("./alert_marks.js").Mark[]} marks
 */
function layout({ app, xScale, yScale }, threshold, marked, marks) {
  const { theme } = app;
  /** @type {PlotlyShape[]} */
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

/** Return the x axis. @param {Pen} pen @param {Line[]} lines @param {boolean} growing */
function xAxis({ app, options, xScale }, lines, growing) {
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
    ...(zoom
      ? { range: zoom }
      : growing && xScale.type === "linear"
        ? roomToGrow(xScale, options, lines)
        : {}),
    nticks: 6,
  });
}

/**
 * Return a range with room for growing curves, so that finished ones need not be drawn again.
 * @param {import("./scale.js").Scale} scale
 * @param {Options} options
 * @param {Line[]} lines
 */
function roomToGrow(scale, { x }, lines) {
  const ends = extent(
    "linear",
    lines.flatMap((line) => stretchesOf(line).map((stretch) => xColumn(stretch, x))),
  );
  if (!ends || x.startsWith("tag:") || ends[0] === ends[1]) return {};
  const [low, high] = ends.map((end) => (scale.ticks ? scale.to(end) : end));
  const unit = 2 ** Math.floor(Math.log2(high - low)) / ROOMS;
  return { range: [low, low + unit * Math.ceil((high - low) / unit)] };
}
