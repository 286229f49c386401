// A slice as a table: cells coloured by value, what is not finite said loudly.

import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */

/**
 * @param {App} app @param {any} part answer of v2/tensor/slice
 * @param {{digits: number, scientific: boolean}} look
 */
export function sliceTable(app, part, look) {
  const [rows, columns] = part.window;
  const { min, max } = part.slice;
  const head = h("tr", null, h("td"), Array.from({ length: columns }, (_, i) => h("th", { scope: "col" }, part.left + i)));
  const body = Array.from({ length: rows }, (_, row) =>
    h("tr", null, h("th", { scope: "row" }, part.top + row), Array.from({ length: columns }, (__, column) => cell(app, part.values[row * columns + column], min, max, look))),
  );
  return h("table", { class: "tensor-table" }, h("thead", null, head), h("tbody", null, body));
}

/** @param {App} app @param {number} value @param {number} min @param {number} max @param {{digits: number, scientific: boolean}} look */
function cell(app, value, min, max, look) {
  if (!Number.isFinite(value)) return h("td", { class: "strange" }, app.format.number(value));
  const share = max > min ? (value - min) / (max - min) : 0.5;
  const strength = Math.round(Math.abs(share - 0.5) * 2 * 38);
  const colour = share >= 0.5 ? "var(--run-2)" : "var(--run-1)";
  return h("td", { style: { background: `color-mix(in srgb, ${colour} ${strength}%, transparent)` } }, text(value, look));
}

/** @param {number} value @param {{digits: number, scientific: boolean}} look */
export function text(value, look) {
  const made = look.scientific ? value.toExponential(look.digits) : Number.isInteger(value) ? String(value) : value.toFixed(look.digits);
  return made.replace("-", "−");
}

/** @param {App} app @param {any} facts @param {string} title */
export function factsTable(app, facts, title) {
  const names = ["count", "min", "max", "mean", "deviation", "norm", "zeros", "negative", "positive", "nan", "positive_infinity", "negative_infinity"];
  const rows = names.map((name) => {
    const loud = ["nan", "positive_infinity", "negative_infinity"].includes(name) && facts[name] > 0;
    return h("tr", null, h("th", { scope: "row" }, app.t(`tensor.fact.${name}`)), h("td", { class: loud ? "number strange" : "number" }, app.format.number(facts[name], 6)));
  });
  return h("table", { class: "table facts-table" }, h("caption", null, title), h("tbody", null, rows));
}
