// Table row of one tensor: names left, statistics right, values that are not finite highlighted.

import { h } from "../../core/dom.js";

/** @typedef {import("./state.js").Page} Page */
/** @typedef {import("../../core/types.js").App} App */

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

/** @param {Page} page @param {any} row @param {() => void} open */
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

/** Infinities of either sign; null where they were not counted. @param {any} statistics statistics */
export function infinities(statistics) {
  if (!statistics || statistics.positive_infs === null || statistics.negative_infs === null) return null;
  return statistics.positive_infs + statistics.negative_infs;
}

/** Elements that are not finite; null where they were not counted. @param {any} statistics statistics */
export function lostElements(statistics) {
  const infs = infinities(statistics);
  return infs === null || statistics.nans === null ? null : infs + statistics.nans;
}

/**
 * A number of elements; empty where the dump does not tell.
 *
 * @param {App} app @param {any} value @param {any} row
 */
function count(app, value, row) {
  const untold = row.statistics && value === null;
  return h("td", { class: "number", title: untold ? app.t("dump.not_counted") : null }, value ?? "");
}

/** @param {App} app @param {number | null | undefined} value @param {any} row */
function lost(app, value, row) {
  if (row.damage) {
    return h(
      "td",
      { class: "number strange", title: `${app.t(row.damage.reason)} ${row.damage.detail}` },
      "!",
    );
  }
  if (value === null && row.finite === false) {
    return h("td", { class: "number strange", title: app.t("dump.lost_not_counted") }, "?");
  }
  return value ? h("td", { class: "number strange" }, value) : count(app, value, row);
}

/** The last two parts of a scoped name. @param {string} name */
export function short(name) {
  const scopes = name.split("/");
  return scopes.length > 2 ? `…/${scopes.slice(-2).join("/")}` : name;
}

/** @param {App} app @param {{direction: string, slot: string}} row */
export function slotText(app, row) {
  return `${app.t(`dump.direction.${row.direction}`)} ${row.slot}`;
}

/** @param {number[] | null | undefined} shape */
export function shapeText(shape) {
  return shape ? `[${shape.join(", ")}]` : "";
}

/** Numbers that left double precision come as text. @param {App} app @param {any} value */
export function number(app, value) {
  return typeof value === "string" ? value : app.format.number(value);
}
