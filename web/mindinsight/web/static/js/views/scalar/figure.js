// From a series answer to Plotly traces: line, raw curve behind it, overwritten stretches, lonely points,
// what is not finite and what lies outside the picture.

import { merged } from "./merge.js";
import { calmRange, scaleOf } from "./scale.js";
import { upright } from "./zoom.js";

/** Curves beyond which a chart is a cloud rather than lines to follow. */
const MANY = 40;

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./options.js").Options} Options */

/**
 * @typedef {Object} Curve
 * @property {string} run
 * @property {number} generation
 * @property {number} count points recorded
 * @property {number} points points of the line
 * @property {number} overwritten_points
 * @property {[number, number, number | string]} last step, wall, value
 * @property {[string, number, number, number][]} non_finite kind, first step, last step, how many
 * @property {Float64Array} step
 * @property {Float64Array} wall
 * @property {Float32Array | Float64Array} value
 * @property {Float64Array} [x]
 * @property {Float64Array} [smooth]
 * @property {{step: Float64Array, wall: Float64Array, value: any, x?: Float64Array}[]} [overwritten]
 */

/**
 * One curve of a chart: what it is of, how it looks, what it holds.
 * @typedef {{label: string, colour: string, dash: string, curve: Curve}} Drawn
 */

/**
 * Where a curve's points lie on the x axis, in Plotly's units (milliseconds for wall time).
 * @param {{step: any, wall: any, x?: any}} curve @param {string} axis
 */
export function places(curve, axis) {
  if (axis === "step") return curve.step;
  if (axis === "wall") return Float64Array.from(curve.wall, (seconds) => seconds * 1000);
  return curve.x;
}

/** @typedef {{x: import("./scale.js").Scale, y: import("./scale.js").Scale}} Scales */

/** The values that the eye follows. @param {Curve} curve */
export function shown(curve) {
  return curve.smooth ?? curve.value;
}

/**
 * @param {App} app
 * @param {Drawn[]} drawn
 * @param {Options} options
 * @param {import("./threshold.js").Threshold | null} threshold
 * @param {[number, number]} [tall] range of y that is looked at in this chart
 * @param {import("./alert_marks.js").Mark[]} [marks]
 * @returns {{data: any[], layout: Record<string, any>, config: Record<string, any>, scales: Scales}}
 */
export function figure(app, drawn, options, threshold = null, tall = undefined, marks = []) {
  const yScale = scaleOf(
    options.y,
    drawn.map((one) => one.curve.value),
  );
  const xScale =
    options.x === "wall"
      ? scaleOf("linear", [])
      : scaleOf(
          options.logX,
          drawn.map((one) => places(one.curve, options.x)),
        );
  const place = placed(options, drawn, xScale);
  const range = options.clip ? calmRange(drawn.map((one) => shown(one.curve))) : null;
  const pen = { app, options, xScale, yScale, range, many: drawn.length > MANY };
  /** @type {any[]} */
  const traces = drawn.flatMap((one) => tracesOf(pen, one));
  const data = drawn.length > MANY ? merged(traces) : traces;
  if (threshold) data.push(...drawn.flatMap((one) => beyond(pen, one, threshold)));
  return {
    data,
    layout: layout(pen, threshold, tall, place, marks),
    config: { doubleClick: "autosize" },
    scales: { x: xScale, y: yScale },
  };
}

/**
 * @typedef {Object} Pen
 * @property {App} app
 * @property {Options} options
 * @property {import("./scale.js").Scale} xScale
 * @property {import("./scale.js").Scale} yScale
 * @property {[number, number] | null} range
 * @property {boolean} many too many curves for a faint raw one behind each
 */

/** @param {Pen} pen @param {Drawn} one */
function tracesOf(pen, one) {
  const { curve } = one;
  const x = along(pen, curve);
  const traces = [];
  for (const part of curve.overwritten ?? []) {
    traces.push({
      ...stroke(one, 1, 0.55),
      x: along(pen, part),
      y: up(pen, part.value),
      line: { color: one.colour, width: 1.2, dash: "dash" },
    });
  }
  if (curve.smooth && !pen.many) traces.push({ ...stroke(one, 1, 0.22), x, y: up(pen, curve.value) });
  const y = up(pen, shown(curve));
  traces.push({ ...stroke(one, 1.8, 1), x, y });
  const marks = [lonely(x, y, one), strange(x, curve, one), outside(pen, x, curve, one)];
  return [...traces, ...marks.filter((trace) => trace !== null)];
}

/** @param {Drawn} one @param {number} width @param {number} opacity */
function stroke(one, width, opacity) {
  return {
    type: "scatter",
    mode: "lines",
    name: one.label,
    meta: one.curve.run,
    line: { color: one.colour, width, dash: one.dash },
    opacity,
    hoverinfo: "skip",
    connectgaps: false,
  };
}

/** @param {Pen} pen @param {{step: any, wall: any, x?: any}} curve */
function along(pen, curve) {
  const x = places(curve, pen.options.x);
  return pen.xScale.ticks ? Float64Array.from(x, pen.xScale.to) : x;
}

/** @param {Pen} pen @param {ArrayLike<number>} values */
function up(pen, values) {
  return pen.yScale.ticks ? Float64Array.from(/** @type {any} */ (values), pen.yScale.to) : values;
}

/**
 * Points with no neighbour to draw a line to.
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {Drawn} one
 */
function lonely(x, y, one) {
  const at = [];
  for (let i = 0; i < y.length; i++) {
    if (Number.isFinite(y[i]) && !Number.isFinite(y[i - 1]) && !Number.isFinite(y[i + 1])) at.push(i);
  }
  return at.length
    ? dots(
        at.map((i) => x[i]),
        at.map((i) => y[i]),
        { symbol: "circle", size: 5, color: one.colour },
      )
    : null;
}

/**
 * NaN and infinities: marks on the floor and the ceiling of the chart, not values.
 * @param {ArrayLike<number>} x
 * @param {Curve} curve
 * @param {Drawn} one
 */
function strange(x, curve, one) {
  const at = [];
  for (let i = 0; i < curve.value.length; i++) if (!Number.isFinite(curve.value[i])) at.push(i);
  if (!at.length) return null;
  const signs = at.map((i) => curve.value[i]);
  const symbol = signs.map((v) => (Number.isNaN(v) ? "x" : v > 0 ? "triangle-up" : "triangle-down"));
  const height = signs.map((v) => (v === Infinity ? 0.97 : 0.03));
  return {
    ...dots(
      at.map((i) => x[i]),
      height,
      { symbol, size: 7, color: one.colour, line: { width: 0 } },
    ),
    yaxis: "y2",
  };
}

/**
 * Points that clipping leaves out: a tick at the edge they left by.
 * @param {Pen} pen
 * @param {ArrayLike<number>} x
 * @param {Curve} curve
 * @param {Drawn} one
 */
function outside(pen, x, curve, one) {
  if (!pen.range) return null;
  const [low, high] = pen.range;
  const at = [];
  for (let i = 0; i < curve.value.length; i++) if (curve.value[i] > high || curve.value[i] < low) at.push(i);
  if (!at.length) return null;
  const height = at.map((i) => (curve.value[i] > high ? 1 : 0));
  return {
    ...dots(
      at.map((i) => x[i]),
      height,
      { symbol: "line-ns-open", size: 8, color: one.colour, line: { width: 1.5 } },
    ),
    yaxis: "y2",
  };
}

/** @param {Pen} pen @param {Drawn} one @param {import("./threshold.js").Threshold} threshold */
function beyond(pen, one, threshold) {
  const colour = pen.app.theme.colour("--bad");
  const values = Float64Array.from(one.curve.value, (v) => (threshold.holds(v) ? v : NaN));
  if (!values.some(Number.isFinite)) return [];
  const x = along(pen, one.curve);
  const y = up(pen, values);
  const line = {
    type: "scatter",
    mode: "lines",
    x,
    y,
    line: { color: colour, width: 2.5 },
    hoverinfo: "skip",
  };
  const alone = lonely(x, y, { ...one, colour });
  return alone ? [line, alone] : [line];
}

/** @param {any[]} x @param {any[]} y @param {any} marker */
function dots(x, y, marker) {
  return { type: "scatter", mode: "markers", x, y, marker, hoverinfo: "skip", cliponaxis: false };
}

/**
 * Where the clicked place is drawn; null where no curve is, for a line out there would stretch the axis.
 * @param {Options} options
 * @param {Drawn[]} drawn
 * @param {import("./scale.js").Scale} scale
 */
function placed(options, drawn, scale) {
  const at = options.at === null || options.x !== "wall" ? options.at : 1000 * options.at;
  if (at === null || !drawn.some(({ curve }) => reaches(curve, options.x, at))) return null;
  return scale.ticks ? scale.to(at) : at;
}

/**
 * Whether a curve has begun and not ended at a place, in Plotly's units.
 * @param {Curve} curve
 * @param {string} x
 * @param {number} at
 */
export function reaches(curve, x, at) {
  const along = places(curve, x);
  if (x.startsWith("tag:")) return along.length > 0; // another scalar goes up and down
  return along.length > 0 && along[0] <= at && at <= along[along.length - 1];
}

/** A line over the whole height. @param {number} x @param {Record<string, any>} line */
function upLine(x, line) {
  return { type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line };
}

/**
 * @param {Pen} pen
 * @param {import("./threshold.js").Threshold | null} threshold
 * @param {[number, number] | undefined} tall
 * @param {number | null} place
 * @param {import("./alert_marks.js").Mark[]} marks
 */
function layout(pen, threshold, tall, place, marks) {
  const { app, options, xScale, yScale, range } = pen;
  const { theme } = app;
  const zoom = options.zoom?.map(
    xScale.ticks
      ? xScale.to
      : options.logX === "log" && options.x !== "wall"
        ? Math.log10
        : (v) => (options.x === "wall" ? v * 1000 : v),
  );
  const up = (tall && upright(tall, yScale)) ?? (range && (upright(range, yScale) ?? undefined));
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
  if (place !== null) lines.push(upLine(place, { color: theme.colour("--accent"), width: 1, dash: "solid" }));
  return {
    ...theme.plotly(),
    xaxis: theme.axis({
      type: options.x === "wall" ? "date" : xScale.type,
      ...(xScale.ticks ?? {}),
      ...(zoom ? { range: zoom } : {}),
      nticks: 6,
    }),
    yaxis: theme.axis({
      type: yScale.type,
      ...(yScale.ticks ?? {}),
      ...(up ? { range: up } : {}),
      nticks: 6,
      exponentformat: "e",
    }),
    yaxis2: { overlaying: "y", range: [0, 1], fixedrange: true, visible: false },
    shapes: lines,
    hovermode: false,
  };
}
