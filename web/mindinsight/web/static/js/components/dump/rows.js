// Table row of one tensor: names left, statistics right, non-finite values highlighted.

import { h } from "../../core/dom.js";
import { reasonText } from "./failure.js";

/** @typedef {import("./state.js").Page} Page */
/** @typedef {import("../../core/answers.js").Statistics} Statistics */
/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../../core/types.js").App} App */

/** Scope whose name, without its class, has a number, such as "2-Block" and unlike "conv-Conv2d". */
const NUMBERED = /^[^-]*\d/;

/** @type {{key: string, sort?: string, number?: boolean}[]} */
export const COLUMNS = [
  { key: "sequence", sort: "sequence", number: true },
  { key: "operator", sort: "operator" },
  { key: "type", sort: "type" },
  { key: "slot" },
  { key: "dtype" },
  { key: "shape" },
  { key: "nans", sort: "nans", number: true },
  { key: "infs", sort: "positive_infs", number: true },
  { key: "minimum", sort: "minimum", number: true },
  { key: "maximum", sort: "maximum", number: true },
  { key: "mean", sort: "mean", number: true },
  { key: "std", sort: "std", number: true },
  { key: "norm", sort: "norm", number: true },
  { key: "zeros", sort: "zeros", number: true },
];

/**
 * Create the cells of a row. `open` is called when the tensor is clicked.
 * @param {Page} page
 * @param {Tensor} row
 * @param {() => void} open
 */
export function cells(page, row, open) {
  const { app } = page;
  const statistics = row.statistics;
  const name = h(
    "button",
    { type: "button", class: "link", title: row.operator, "data-focus": "open", onclick: open },
    short(row.operator),
  );
  return [
    h("td", { class: "number muted" }, row.sequence),
    h("td", { class: "name" }, name),
    h("td", { class: "type", title: row.type }, row.type),
    h("td", null, slotText(app, row)),
    h("td", null, row.dtype),
    h("td", { class: "mono" }, shapeText(row.shape)),
    lost(app, statistics?.nans, row),
    lost(app, infinities(statistics), row),
    ...["minimum", "maximum", "mean", "std", "norm"].map((key) =>
      h("td", { class: "number" }, statistics ? number(app, statistics[key]) : ""),
    ),
    count(app, statistics?.zeros, row),
  ];
}

/**
 * Return the number of infinite elements; null if they were not counted.
 * @param {Statistics | null | undefined} statistics
 */
export function infinities(statistics) {
  if (!statistics || statistics.positive_infs === null || statistics.negative_infs === null) return null;
  return statistics.positive_infs + statistics.negative_infs;
}

/**
 * Return the number of non-finite elements; null if they were not counted.
 * @param {Statistics | null | undefined} statistics
 */
export function nonFiniteCount(statistics) {
  const infs = infinities(statistics);
  return infs === null || !statistics || statistics.nans === null ? null : infs + statistics.nans;
}

/**
 * Create the cell of a count. It is empty, with an explanation, if the dump did not count.
 * @param {App} app
 * @param {number | null | undefined} value
 * @param {Tensor} row
 */
function count(app, value, row) {
  const untold = row.statistics && value === null;
  return h("td", { class: "number", title: untold ? app.t("dump.not_counted") : null }, value ?? "");
}

/**
 * Create the cell of a number of NaN or infinite elements: "!" if the tensor is damaged, "?" if it is known
 * to be non-finite but was not counted.
 * @param {App} app
 * @param {number | null | undefined} value
 * @param {Tensor} row
 */
function lost(app, value, row) {
  if (row.damage) {
    return h("td", { class: "number strange", title: reasonText(app, row.damage) }, "!");
  }
  if (value === null && row.finite === false) {
    return h("td", { class: "number strange", title: app.t("dump.lost_not_counted") }, "?");
  }
  return value ? h("td", { class: "number strange" }, value) : count(app, value, row);
}

/**
 * Return a scoped name without its outer scopes: its last two parts, and before them every scope with a
 * number, which distinguishes blocks of equal layers. "…" stands for the scopes left out. Names of two parts
 * or fewer are unchanged.
 * @param {string} name
 */
export function short(name) {
  const parts = name.split("/");
  const last = parts.slice(-2);
  const kept = parts.slice(0, -2).map((scope) => (NUMBERED.test(scope) ? scope : "…"));
  return [...kept, ...last].filter((part, i, all) => part !== "…" || all[i - 1] !== "…").join("/");
}

/**
 * Return a tensor's direction and slot, such as "input 0".
 * @param {App} app
 * @param {{direction: string, slot: string}} row
 */
export function slotText(app, row) {
  return `${app.t(`dump.direction.${row.direction}`)} ${row.slot}`;
}

/** Return a shape as text; "" if it is unknown. @param {number[] | null | undefined} shape */
export function shapeText(shape) {
  return shape ? `[${shape.join(", ")}]` : "";
}

/**
 * Format a number. Values outside double precision arrive as text and stay unchanged.
 * @param {App} app
 * @param {number | string | null | undefined} value
 */
export function number(app, value) {
  return typeof value === "string" ? value : app.format.number(value);
}
