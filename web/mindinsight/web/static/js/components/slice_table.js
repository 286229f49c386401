// Table of a tensor slice. Cells are coloured by value; non-finite values are highlighted.

import { h } from "../core/dom.js";
import { number as formatNumber } from "../core/format.js";

/** @typedef {import("../core/types.js").App} App */
/**
 * Elements row by row: `exact` are texts of integers that a number cannot hold.
 * @typedef {{values: ArrayLike<number>, imaginary?: ArrayLike<number>, exact?: string[]}} Elements
 */

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
 * Create the table of a slice.
 * @param {Elements & {window: number[], top: number, left: number, slice: Record<string, number>}} slice
 * @param {{digits: number, scientific: boolean}} look
 */
export function sliceTable(slice, look) {
  const [rows, columns] = slice.window;
  const { min, max } = slice.slice;
  const head = h(
    "tr",
    null,
    h("td"),
    Array.from({ length: columns }, (_, i) => h("th", { scope: "col" }, slice.left + i)),
  );
  const body = Array.from({ length: rows }, (_, row) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, slice.top + row),
      Array.from({ length: columns }, (__, column) => cell(slice, row * columns + column, min, max, look)),
    ),
  );
  return h("table", { class: "tensor-table" }, h("thead", null, head), h("tbody", null, body));
}

/**
 * Create the cell of one element, coloured by its place between the minimum and maximum, complex ones by
 * their magnitude.
 * @param {Elements} elements
 * @param {number} i
 * @param {number} min
 * @param {number} max
 * @param {{digits: number, scientific: boolean}} look
 */
function cell(elements, i, min, max, look) {
  const { values, imaginary } = elements;
  const value = imaginary ? Math.hypot(values[i], imaginary[i]) : values[i];
  const written = elementText(elements, i, look);
  if (!Number.isFinite(value)) return h("td", { class: "strange" }, written);
  const share = max > min ? (value - min) / (max - min) : 0.5;
  const strength = Math.round(Math.abs(share - 0.5) * 2 * 38);
  const colour = share >= 0.5 ? "var(--run-2)" : "var(--run-1)";
  return h(
    "td",
    { style: { background: `color-mix(in srgb, ${colour} ${strength}%, transparent)` } },
    written,
  );
}

/**
 * Format an element: 1.5, 9007199254740993, 1 − 2i.
 * @param {Elements} elements
 * @param {number} i
 * @param {{digits: number, scientific: boolean}} look
 */
export function elementText({ values, imaginary, exact }, i, look) {
  if (exact) return exact[i].replace("-", "−");
  if (!imaginary) return text(values[i], look);
  return `${text(values[i], look)} ${imaginary[i] < 0 ? "−" : "+"} ${text(Math.abs(imaginary[i]), look)}i`;
}

/**
 * Format a value with the chosen digits and notation.
 * @param {number} value
 * @param {{digits: number, scientific: boolean}} look
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
