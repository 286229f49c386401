// Parallel axes in SVG: one line per run, with brushing, hovering and keyboard control.

import { svg } from "../../core/dom.js";
import { brushOn, moveOn } from "./axis_drag.js";
import { marksOf } from "./axis_ticks.js";
import { plainText } from "../../core/format.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{key: string, numeric: boolean, label: string}} Column */
/** @typedef {{run: string, values: Record<string, unknown>}} Row */
/** @typedef {{low: number, high: number}} Brush in shares of the axis, from the bottom */

/**
 * @typedef {Object} Plot
 * @property {Column[]} columns
 * @property {Row[]} rows
 * @property {Set<string>} logs keys of axes that are logarithmic
 * @property {Map<string, Brush>} brushes
 * @property {(row: Row) => string} colour
 * @property {(run: string | null) => void} onhover
 * @property {(run: string) => void} onpick
 * @property {() => void} onbrush
 * @property {(key: string, by: number) => void} onmove an axis moved so many places to the right
 */

const TOP = 34;
const BOTTOM = 18;
const SIDE = 70;
const LETTER = 6.2; // px of a letter of a title
const LONGEST = 14; // characters of a tick
const EXACT = 17; // digits that tell all numbers apart

/**
 * Return the ticks of an axis, and a function that gives a value's position from 0 at the bottom to 1 at the
 * top; NaN if the value is missing or not finite.
 * @param {Plot} plot
 * @param {Column} column
 */
export function axisPosition(plot, column) {
  const values = plot.rows
    .map((row) => row.values[column.key])
    .filter((value) => value !== undefined && value !== null);
  // integers beyond 2^53 are texts, and may be equal as numbers
  const finite = values.filter((value) => Number.isFinite(Number(value)));
  if (!column.numeric || new Set(finite.map(Number)).size < new Set(finite.map(plainText)).size) {
    const names = [...new Set(values.map(plainText))].sort((a, b) =>
      a.localeCompare(b, undefined, { numeric: true }),
    );
    const ticks = names.map((name, i) => ({
      at: names.length > 1 ? i / (names.length - 1) : 0.5,
      text: name,
    }));
    return { ticks, of: (/** @type {unknown} */ value) => ticks[names.indexOf(plainText(value))]?.at ?? NaN };
  }
  const log = plot.logs.has(column.key);
  const to = (/** @type {unknown} */ value) => (log ? Math.log10(Number(value)) : Number(value));
  const numbers = values.map(to).filter(Number.isFinite);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const share = (/** @type {number} */ number) => {
    if (!Number.isFinite(number)) return NaN;
    return high > low ? (number - low) / (high - low) : 0.5;
  };
  const marks = high > low ? marksOf(numbers, low, high) : [low];
  const ticks = Number.isFinite(low)
    ? marks.map((number) => ({ at: share(number), text: log ? 10 ** number : number }))
    : [];
  return {
    ticks,
    of: (/** @type {unknown} */ value) => (value === undefined || value === null ? NaN : share(to(value))),
  };
}

/** Return whether a row lies inside every brush. @param {Plot} plot @param {Row} row */
export function isBrushed(plot, row) {
  return plot.columns.every((column) => {
    const brush = plot.brushes.get(column.key);
    if (!brush) return true;
    const at = axisPosition(plot, column).of(row.values[column.key]);
    return at >= brush.low - 1e-9 && at <= brush.high + 1e-9;
  });
}

/**
 * Create the SVG drawing of parallel axes, a line for each run.
 * @param {App} app
 * @param {Plot} plot
 * @param {number} width
 * @param {number} height
 */
export function drawAxes(app, plot, width, height) {
  const gap = (Math.max(width, plot.columns.length * 110) - 2 * SIDE) / Math.max(1, plot.columns.length - 1);
  const total = Math.max(width, plot.columns.length * 110);
  const x = (/** @type {number} */ i) => SIDE + i * gap;
  const tall = height - TOP - BOTTOM;
  const y = (/** @type {number} */ at) => TOP + (1 - at) * tall;
  const scales = plot.columns.map((column) => axisPosition(plot, column));
  const lines = plot.rows.map((row) => line(app, plot, row, scales, x, y));
  const axes = plot.columns.map((column, i) =>
    axis(app, plot, column, scales[i].ticks, { x: x(i), gap, y, tall, last: i === plot.columns.length - 1 }),
  );
  const own = plot.rows.filter((row) => plot.colour(row) === app.selection.colour(row.run));
  return svg(
    "svg",
    {
      class: "axes",
      "data-about": JSON.stringify(own.map(({ run }) => run)), // for the legend of a saved page
      width: total,
      height,
      viewBox: `0 0 ${total} ${height}`,
      role: "group",
      "aria-label": app.t("lineage.axes"),
    },
    svg("g", { class: "lines" }, lines),
    axes,
  );
}

/**
 * Create the line of a run, dashed across axes of which it has no value.
 * @param {App} app
 * @param {Plot} plot
 * @param {Row} row
 * @param {{of: (value: unknown) => number}[]} scales
 * @param {(i: number) => number} x
 * @param {(at: number) => number} y
 */
function line(app, plot, row, scales, x, y) {
  let [path, across] = ["", ""];
  let [last, before] = [NaN, ""];
  plot.columns.forEach((column, i) => {
    const at = scales[i].of(row.values[column.key]);
    if (!Number.isFinite(at)) return;
    const point = `${x(i).toFixed(1)},${y(at).toFixed(1)}`;
    path += `${last === i - 1 ? "L" : "M"}${point}`;
    if (last < i - 1) across += `M${before}L${point}`;
    [last, before] = [i, point];
  });
  const name = app.selection.run(row.run)?.name ?? row.run;
  const pick = () => plot.onpick(row.run);
  const shown = isBrushed(plot, row) ? "run" : "run out";
  const bridge = { d: across, class: `${shown} across`, "data-run": row.run, stroke: plot.colour(row) };
  const whole = svg("path", {
    d: path,
    class: shown,
    "data-run": row.run,
    stroke: plot.colour(row),
    fill: "none",
    tabindex: "0",
    role: "button",
    "aria-label": name,
    onpointerenter: () => plot.onhover(row.run),
    onpointerleave: () => plot.onhover(null),
    onfocus: () => plot.onhover(row.run),
    onblur: () => plot.onhover(null),
    onclick: pick,
    onkeydown: (/** @type {KeyboardEvent} */ event) =>
      (event.key === "Enter" || event.key === " ") && (event.preventDefault(), pick()),
  });
  return across ? [svg("path", { ...bridge, fill: "none", "aria-hidden": "true" }), whole] : whole;
}

/**
 * Create an axis with ticks, title and brush.
 * @param {App} app
 * @param {Plot} plot
 * @param {Column} column
 * @param {{at: number, text: string | number}[]} ticks
 * @param {{x: number, gap: number, y: (at: number) => number, tall: number, last: boolean}} place
 */
function axis(app, plot, column, ticks, { x, gap, y, tall, last }) {
  const stride = Math.max(1, Math.ceil(ticks.length / 12));
  const visible = ticks.filter((_, i) => i % stride === 0);
  const texts = shortTexts(
    visible.map(({ text }) => text),
    app.format.number,
  );
  const marks = visible.map(({ at, text }, i) =>
    svg(
      "text",
      { ...tickPlace(at, x, y), class: at > 0 && at < 1 ? "tick" : "tick end" },
      texts[i],
      svg("title", null, String(text)),
    ),
  );
  const room = (/** @type {number} */ width) => Math.max(18, Math.floor(width / LETTER)); // for letters
  const centred = room(Math.min(gap, 2 * SIDE));
  const ends = last && column.label.length > centred; // at the edge of the picture
  const letters = ends ? room(gap / 2 + SIDE) : centred;
  const title = svg(
    "text",
    {
      x: ends ? x + SIDE : x,
      y: 14,
      class: ends ? "title last" : "title",
      tabindex: "0",
      role: "button",
      "aria-label": app.t("lineage.move", { axis: column.label }),
      "data-focus": `move:${column.key}`,
    },
    column.label.length > letters ? `${column.label.slice(0, letters - 1)}…` : column.label,
    svg("title", null, column.label),
  );
  const group = svg(
    "g",
    { class: "axis", "data-key": column.key },
    svg("line", { x1: x, x2: x, y1: y(1), y2: y(0) }),
    marks,
    title,
  );
  brushOn(app, plot, column, group, x, y, tall);
  moveOn(plot, column, group, title, gap);
  return group;
}

/**
 * Return short texts of an axis that differ where the values do: numbers with as many digits as that takes,
 * texts by their beginning or their end.
 * @param {(string | number)[]} values
 * @param {(value: number, digits: number) => string} format
 */
export function shortTexts(values, format) {
  const numbers = (/** @type {number} */ digits) =>
    values.map((value) => (typeof value === "number" ? format(value, digits) : value));
  const beginning = (/** @type {string} */ text) =>
    text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
  const end = (/** @type {string} */ text) => (text.length > LONGEST ? `…${text.slice(1 - LONGEST)}` : text);
  const attempts = [
    ...[3, 4, 5, 6, 8, 12, EXACT].map((digits) => numbers(digits).map(beginning)),
    numbers(EXACT).map(end),
    numbers(EXACT),
  ];
  const different = new Set(values).size;
  return attempts.find((texts) => new Set(texts).size === different) ?? numbers(EXACT);
}

/**
 * Return the position of a tick's text: beside the axis, at both ends beyond it.
 * @param {number} at
 * @param {number} x
 * @param {(at: number) => number} y
 */
function tickPlace(at, x, y) {
  if (at >= 1) return { x, y: y(1) - 6 };
  return at <= 0 ? { x, y: y(0) + 14 } : { x: x - 6, y: y(at) + 4 };
}
