// Table of a tensor slice. Cells are coloured by value; non-finite values are highlighted.

import { h, replace } from "../core/dom.js";
import { number as formatNumber } from "../core/format.js";
import { colourRange } from "../core/ramp.js";
import { cellWindow } from "./cell_window.js";
import { rangeText } from "./range_text.js";

/** @typedef {import("../core/types.js").App} App */
/**
 * Elements row by row: `exact` are texts of integers that a number cannot hold, `marked` is the row and the
 * column of a cell in the window.
 * @typedef {{values: ArrayLike<number>, imaginary?: ArrayLike<number>, exact?: string[], marked?: number[] |
 *   null}} Elements
 */
/** @typedef {{digits: number, scientific: boolean}} Look */
/** @typedef {import("./cell_window.js").Cells} Cells */

const FACTS = [
  "count",
  "min",
  "max",
  "mean",
  "deviation",
  "norm",
  "zeros",
  "negative",
  "positive",
  "nan",
  "positive_infinity",
  "negative_infinity",
];
const LOUD = new Set(["nan", "positive_infinity", "negative_infinity"]);

/**
 * Create the table of a slice in an element that scrolls it. Only cells near its window exist: 40,000 would
 * keep the page busy for many seconds. `reveal()` scrolls to the marked cell, if the table has it.
 * @param {App} app
 * @param {Elements & {window: number[], top: number, left: number}} slice
 * @param {Look} look
 */
export function sliceTable(app, slice, look) {
  const [rows, columns] = slice.window;
  const count = rows * columns;
  const shown = slice.imaginary ? Array.from({ length: count }, (_, i) => magnitude(slice, i)) : slice.values;
  const range = colourRange(shown);
  let longest = String(slice.left + columns).length;
  for (let i = 0; i < count; i++) longest = Math.max(longest, elementText(slice, i, look).length);
  const table = h("table", {
    class: "tensor-table",
    style: { "--cell": `${longest}ch`, "--head": `${String(slice.top + rows).length}ch` },
    "aria-rowcount": rows + 1,
    "aria-colcount": columns + 1,
  });
  const sized = h("div", { class: "tensor-cells" }, table);
  const scroller = h("div", { class: "scroll tensor-scroll", tabindex: "0" }, sized);
  const draw = (/** @type {Cells} */ cells) => drawCells(table, { slice, look, range, cells });
  const reveal = cellWindow({ scroller, sized, table, rows, columns, draw }, slice.marked ?? null);
  return { element: h("div", null, scroller, rangeText(app, range)), reveal };
}

/**
 * Draw some cells of a slice with the numbers of their rows and columns.
 * @param {HTMLTableElement} table
 * @param {{slice: Elements & {window: number[], top: number, left: number}, look: Look, range:
 *   import("../core/ramp.js").ColourRange | null, cells: Cells}} options
 */
function drawCells(table, { slice, look, range, cells: [top, bottom, left, right] }) {
  const across = Array.from({ length: right - left }, (_, i) => left + i);
  const head = h(
    "tr",
    { "aria-rowindex": 1 },
    h("td"),
    across.map((column) => h("th", { scope: "col", "aria-colindex": column + 2 }, slice.left + column)),
  );
  const body = Array.from({ length: bottom - top }, (_, i) => {
    const row = top + i;
    const cells = across.map((column) => cell(slice, row, column, range, look));
    return h("tr", { "aria-rowindex": row + 2 }, h("th", { scope: "row" }, slice.top + row), cells);
  });
  const width = `${across.length} * var(--cell) + ${across.length + 1} * var(--pad)`;
  table.style.width = `calc(var(--head) + ${width})`;
  replace(table, h("thead", null, head), h("tbody", null, body));
}

/**
 * Return the magnitude of a complex element, or the value of a real one.
 * @param {Elements} elements
 * @param {number} i
 */
function magnitude({ values, imaginary }, i) {
  return imaginary ? Math.hypot(values[i], imaginary[i]) : values[i];
}

/**
 * Create the cell of one element, coloured by its position in the range of colours, complex ones by their
 * magnitude.
 * @param {Elements & {window: number[]}} slice
 * @param {number} row
 * @param {number} column
 * @param {import("../core/ramp.js").ColourRange | null} range
 * @param {Look} look
 */
function cell(slice, row, column, range, look) {
  const i = row * slice.window[1] + column;
  const value = magnitude(slice, i);
  const written = elementText(slice, i, look);
  const marked = slice.marked?.[0] === row && slice.marked[1] === column ? " marked" : "";
  const place = { "aria-colindex": column + 2 };
  if (!Number.isFinite(value)) return h("td", { class: `strange${marked}`, ...place }, written);
  const { low, high } = range ?? { low: value, high: value };
  const share = high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5;
  const strength = Math.round(Math.abs(share - 0.5) * 2 * 38);
  const colour = share >= 0.5 ? "var(--run-2)" : "var(--run-1)";
  const beyond = value < low || value > high ? "beyond" : "";
  return h(
    "td",
    {
      class: beyond + marked || null,
      style: { background: `color-mix(in srgb, ${colour} ${strength}%, transparent)` },
      ...place,
    },
    written,
  );
}

/**
 * Format an element: 1.5, 9007199254740993, 1 − 2i.
 * @param {Elements} elements
 * @param {number} i
 * @param {Look} look
 */
export function elementText({ values, imaginary, exact }, i, look) {
  if (exact) return exact[i].replace("-", "−");
  if (!imaginary) return text(values[i], look);
  return `${text(values[i], look)} ${imaginary[i] < 0 ? "−" : "+"} ${text(Math.abs(imaginary[i]), look)}i`;
}

/**
 * Format a value with the chosen digits and notation.
 * @param {number} value
 * @param {Look} look
 */
export function text(value, look) {
  if (!Number.isFinite(value)) return formatNumber(value);
  const tiny = value !== 0 && Math.abs(value) < 0.5 * 10 ** -look.digits; // would be written as 0
  const number =
    look.scientific || tiny
      ? value.toExponential(look.digits)
      : Number.isInteger(value)
        ? String(value)
        : value.toFixed(look.digits);
  return number.replaceAll("-", "−");
}

/**
 * Create the table of statistics of the slice and of the whole tensor; of the tensor alone if the slice is
 * all of it.
 * @param {App} app
 * @param {Pick<import("../core/answers.js").TensorSlice, "slice" | "whole">} slice
 */
export function factsTable(app, slice) {
  const { t, format } = app;
  const complete = slice.slice.count === slice.whole.count;
  const columns = complete
    ? [{ title: t("tensor.of_whole"), of: slice.whole }]
    : [
        { title: t("tensor.of_slice"), of: slice.slice },
        { title: t("tensor.of_whole"), of: slice.whole },
      ];
  const head = h(
    "tr",
    null,
    h("td", null),
    columns.map(({ title }) => h("th", { scope: "col", class: "number" }, title)),
  );
  const rows = FACTS.map((name) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, t(`tensor.fact.${name}`)),
      columns.map(({ of }) =>
        h(
          "td",
          { class: LOUD.has(name) && of[name] > 0 ? "number strange" : "number" },
          format.number(of[name], 6),
        ),
      ),
    ),
  );
  return h(
    "table",
    { class: "table facts-table", "aria-label": t("tensor.facts") },
    h("thead", null, head),
    h("tbody", null, rows),
  );
}
