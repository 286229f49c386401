// Plotly traces of a curve: line, raw values behind it, overwritten points, isolated points, non-finite
// values, and values outside the axis.

import { faint } from "./band.js";
import { gapRows, xColumn, smoothedValues } from "./curve.js";

/** @typedef {import("./curve.js").Curve} Curve */
/** @typedef {import("./curve.js").Line} Line */
/** @typedef {import("./merge.js").Trace} Trace */

/**
 * What the traces of a chart share.
 * @typedef {Object} Pen
 * @property {import("../../core/types.js").App} app
 * @property {import("./options.js").Options} options
 * @property {import("./scale.js").Scale} xScale
 * @property {import("./scale.js").Scale} yScale
 * @property {[number, number] | null} range
 * @property {boolean} many too many curves for a faint raw one behind each
 */

const SYMBOLS = 20; // non-finite values that each have one
const QUIET = 0.4; // opacity of a curve that others stand out from

/**
 * Return the Plotly traces of a curve: line, raw values behind it, overwritten and isolated points,
 * non-finite values.
 * @param {Pen} pen
 * @param {Line} whole
 */
export function tracesOf(pen, whole) {
  const { curve, quiet } = whole;
  const line = quiet ? { ...whole, colour: pen.app.theme.colour("--line-strong") } : whole;
  const x = xValues(pen, curve);
  const traces = curve.low ? [rangeOf(pen, line, x)] : [];
  for (const stretch of curve.overwritten ?? []) {
    traces.push({
      ...stroke(line, 1, 0.55),
      x: xValues(pen, stretch),
      y: yValues(pen, stretch.value),
      line: { color: line.colour, width: 1.2, dash: "dash" },
    });
  }
  for (const stretch of line.before ?? []) {
    const y = yValues(pen, stretch.smooth ?? stretch.value);
    traces.push({ ...stroke(line, 1.4, 0.45), x: xValues(pen, stretch), y });
  }
  const rows = gapRows(curve);
  const parted = split(x, rows);
  if (curve.smooth && !pen.many) {
    traces.push({ ...stroke(line, 1, 0.22), x: parted, y: split(yValues(pen, curve.value), rows) });
  }
  const y = yValues(pen, smoothedValues(curve));
  traces.push({ ...(quiet ? stroke(line, 1, QUIET) : stroke(line, 1.8, 1)), x: parted, y: split(y, rows) });
  if (rows.length) traces.push(bridges(x, y, rows, line));
  const marks = [lonely(x, y, line), ...nonFinite(pen, x, curve, line), outside(pen, x, curve, line)];
  return [...traces, ...marks.filter((trace) => trace !== null)];
}

/**
 * Return the range over a job's ranks as an area.
 * @param {Pen} pen
 * @param {Line} line
 * @param {ArrayLike<number>} x
 * @returns {Trace}
 */
function rangeOf(pen, line, x) {
  const low = yValues(pen, line.curve.low ?? []);
  const high = yValues(pen, line.curve.high ?? []);
  const rows = Array.from(x, (_, i) => i).filter((i) => Number.isFinite(low[i]));
  const back = [...rows].reverse();
  return {
    ...stroke(line, 0, 1),
    x: [...rows.map((i) => x[i]), ...back.map((i) => x[i])],
    y: [...rows.map((i) => high[i]), ...back.map((i) => low[i])],
    fill: "toself",
    fillcolor: faint(line.colour, 0.16),
  };
}

/**
 * Return a column with NaN after some rows, where a line is to be parted.
 * @param {ArrayLike<number>} column
 * @param {number[]} rows ascending
 */
function split(column, rows) {
  if (!rows.length) return column;
  const ends = [...rows.map((row) => row + 1), column.length];
  return Float64Array.from(
    ends.flatMap((end, i) => [...Array.from(column).slice(ends[i - 1] ?? 0, end), NaN]),
  );
}

/**
 * Return dotted lines over the gaps of a curve, in which nothing was recorded.
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {number[]} rows after which there is a gap
 * @param {Line} line
 * @returns {Trace}
 */
function bridges(x, y, rows, line) {
  const ends = (/** @type {ArrayLike<number>} */ column) =>
    rows.flatMap((row) => [column[row], column[row + 1], NaN]);
  return {
    ...stroke(line, 1, line.quiet ? QUIET : 0.7),
    x: ends(x),
    y: ends(y),
    line: { color: line.colour, width: 1.2, dash: "dot" },
  };
}

/** Return the style of a line. @param {Line} line @param {number} width @param {number} opacity */
function stroke(line, width, opacity) {
  return {
    type: "scatter",
    mode: "lines",
    name: line.label,
    meta: line.curve.run,
    line: { color: line.colour, width, dash: line.dash },
    opacity,
    hoverinfo: "skip",
    connectgaps: false,
  };
}

/** Return positions on the x axis. @param {Pen} pen @param {import("./curve.js").Positions} curve */
function xValues(pen, curve) {
  const x = xColumn(curve, pen.options.x);
  return pen.xScale.ticks ? Float64Array.from(x, pen.xScale.to) : x;
}

/** Return positions on the y axis. @param {Pen} pen @param {ArrayLike<number>} values */
function yValues(pen, values) {
  return pen.yScale.ticks ? Float64Array.from(values, pen.yScale.to) : values;
}

/**
 * Return markers for points without a neighbour, or null if there are none.
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {Line} line
 */
function lonely(x, y, line) {
  const at = [];
  for (let i = 0; i < y.length; i++) {
    if (Number.isFinite(y[i]) && !Number.isFinite(y[i - 1]) && !Number.isFinite(y[i + 1])) at.push(i);
  }
  return at.length
    ? dots(
        at.map((i) => x[i]),
        at.map((i) => y[i]),
        { symbol: "circle", size: 5, color: line.colour },
      )
    : null;
}

/**
 * Return red marks for NaN and infinities at the edges of the chart, −Inf at the lower one: a symbol at each,
 * or, of many, at the first of adjacent ones and a line along them.
 * @param {Pen} pen
 * @param {ArrayLike<number>} x
 * @param {Curve} curve
 * @param {Line} line
 * @returns {Trace[]}
 */
function nonFinite({ app }, x, { value }, line) {
  let at = [];
  for (let i = 0; i < value.length; i++) if (!Number.isFinite(value[i])) at.push(i);
  if (!at.length) return [];
  const every = line.quiet ? at.slice(0, 1) : at; // of many runs, marks at all steps would hide the curves
  const starts = every.filter((i) => !Object.is(value[i], value[i - 1]));
  const height = (/** @type {number} */ i) => (value[i] === -Infinity ? 0 : 1);
  const color = app.theme.colour("--bad");
  at = every.length > SYMBOLS ? starts : every;
  const symbol = at.map((i) =>
    Number.isNaN(value[i]) ? "x" : value[i] > 0 ? "triangle-up" : "triangle-down",
  );
  const marks = dots(
    at.map((i) => x[i]),
    at.map(height),
    { symbol, size: 7, color, line: { width: 0 } },
  );
  const along = every.flatMap((i) => (starts.includes(i) ? [null, i] : [i]));
  const strip = {
    ...stroke(line, 2, 1),
    x: along.map((i) => (i === null ? NaN : x[i])),
    y: along.map((i) => (i === null ? NaN : height(i))),
    line: { color, width: 2 },
    cliponaxis: false,
    yaxis: "y2",
  };
  return [...(every.length > SYMBOLS ? [strip] : []), { ...marks, yaxis: "y2" }];
}

/**
 * Return ticks at the edge for points that clipping hides, or null if there are none.
 * @param {Pen} pen
 * @param {ArrayLike<number>} x
 * @param {Curve} curve
 * @param {Line} line
 */
function outside(pen, x, curve, line) {
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
      { symbol: "line-ns-open", size: 8, color: line.colour, line: { width: 1.5 } },
    ),
    yaxis: "y2",
  };
}

/**
 * Return the Plotly traces of markers on the values that a threshold marks.
 * @param {Pen} pen
 * @param {Line} source
 * @param {import("./threshold.js").Threshold} threshold
 */
export function beyond(pen, source, threshold) {
  const colour = pen.app.theme.colour("--bad");
  const values = Float64Array.from(source.curve.value, (v) => (threshold.holds(v) ? v : NaN));
  if (!values.some(Number.isFinite)) return [];
  const x = xValues(pen, source.curve);
  const y = yValues(pen, values);
  const line = {
    type: "scatter",
    mode: "lines",
    x,
    y,
    line: { color: colour, width: 2.5 },
    hoverinfo: "skip",
  };
  const alone = lonely(x, y, { ...source, colour });
  return alone ? [line, alone] : [line];
}

/**
 * Return a trace of markers.
 * @param {number[]} x
 * @param {number[]} y
 * @param {import("../../core/sketch/paths.js").Marker} marker
 */
function dots(x, y, marker) {
  return { type: "scatter", mode: "markers", x, y, marker, hoverinfo: "skip", cliponaxis: false };
}
