// Table of the tensors of one operator with the main statistics.

import { h } from "../../core/dom.js";
import { nonFiniteCount, number, shapeText } from "./rows.js";

/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../../core/types.js").App} App */

const STATISTICS = ["minimum", "maximum", "mean", "norm"];

/**
 * Create the table of some tensors. `slot` returns the link to a tensor.
 * @param {App} app
 * @param {Tensor[]} rows
 * @param {(row: Tensor) => HTMLElement} slot what leads to a tensor
 * @param {(row: Tensor) => boolean} [current]
 */
export function tensorTable(app, rows, slot, current = () => false) {
  const { t } = app;
  const head = h(
    "tr",
    null,
    h("th", null, t("dump.column.slot")),
    h("th", null, t("dump.column.shape")),
    h("th", { class: "number" }, t("dump.column.lost")),
    STATISTICS.map((key) => h("th", { class: "number" }, t(`dump.column.${key}`))),
  );
  return h(
    "div",
    { class: "scroll", tabindex: "0" },
    h(
      "table",
      { class: "table" },
      h("thead", null, head),
      h(
        "tbody",
        null,
        rows.map((row) => line(app, row, slot(row), current(row))),
      ),
    ),
  );
}

/**
 * Create the row of one tensor.
 * @param {App} app
 * @param {Tensor} row
 * @param {HTMLElement} slot
 * @param {boolean} current
 */
function line(app, row, slot, current) {
  const { t } = app;
  const statistics = row.statistics;
  const lost = nonFiniteCount(statistics);
  const strange = lost || row.finite === false;
  return h(
    "tr",
    { class: current ? "current" : null },
    h("td", null, slot),
    h(
      "td",
      { class: "shape" },
      h("span", { class: "mono" }, shapeText(row.shape)),
      " ",
      h("span", { class: "muted" }, row.dtype),
    ),
    h(
      "td",
      {
        class: strange ? "number strange" : "number",
        title: strange && lost === null ? t("dump.lost_not_counted") : null,
      },
      row.damage ? t(row.damage.reason) : (lost ?? (strange ? "?" : "")),
    ),
    STATISTICS.map((name) => h("td", { class: "number" }, statistics ? number(app, statistics[name]) : "")),
  );
}
