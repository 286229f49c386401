// Table of a tensor slice. Cells are coloured by value; non-finite values are highlighted.

import { h } from "../core/dom.js";

/** @typedef {import("../core/types.js").App} App */

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
 * @param {App} app
 * @param {{window: number[], top: number, left: number, values: ArrayLike<number>,
 *   slice: Record<string, number>}} slice
 * @param {{digits: number, scientific: boolean}} look
 */
export function sliceTable(app, slice, look) {
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
      Array.from({ length: columns }, (__, column) =>
        cell(app, slice.values[row * columns + column], min, max, look),
      ),
    ),
  );
  return h("table", { class: "tensor-table" }, h("thead", null, head), h("tbody", null, body));
}

/**
 * Create the cell of one value, coloured by its place between the minimum and maximum.
 * @param {App} app
 * @param {number} value
 * @param {number} min
 * @param {number} max
 * @param {{digits: number, scientific: boolean}} look
 */
function cell(app, value, min, max, look) {
  if (!Number.isFinite(value)) return h("td", { class: "strange" }, app.format.number(value));
  const share = max > min ? (value - min) / (max - min) : 0.5;
  const strength = Math.round(Math.abs(share - 0.5) * 2 * 38);
  const colour = share >= 0.5 ? "var(--run-2)" : "var(--run-1)";
  return h(
    "td",
    { style: { background: `color-mix(in srgb, ${colour} ${strength}%, transparent)` } },
    text(value, look),
  );
}

/**
 * Format a value with the chosen digits and notation.
 * @param {number} value
 * @param {{digits: number, scientific: boolean}} look
 */
export function text(value, look) {
  const number = look.scientific
    ? value.toExponential(look.digits)
    : Number.isInteger(value)
      ? String(value)
      : value.toFixed(look.digits);
  return number.replace("-", "−");
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
