// Columns and cells of the tables: tensors of one checkpoint, and differences between two.

import { h } from "../../core/dom.js";
import { reasonText } from "../../components/dump/failure.js";
import { number, shapeText } from "../../components/dump/rows.js";
import { nonFinite, valueOf } from "./rows.js";

/** @typedef {import("../../core/answers.js").SavedRow} SavedRow */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{key: string, number?: boolean}} Column */

const STATISTICS = ["nans", "infs", "minimum", "maximum", "mean", "std", "norm", "zeros"];
const MEASURES = ["non_finite_elements", "max_absolute", "relative_distance", "equal", "cosine"];
const LOUD = ["nans", "infs", "non_finite_elements"];

/** Return the columns of a mode. @param {"tensors" | "compare"} mode @returns {Column[]} */
export function columnsOf(mode) {
  const numbers = (mode === "tensors" ? STATISTICS : MEASURES).map((key) => ({ key, number: true }));
  const texts = mode === "tensors" ? ["name", "dtype", "shape"] : ["name", "state", "shape"];
  return [...texts.map((key) => ({ key })), ...numbers];
}

/** Return a row's shape as text, with an arrow if it differs between the files. @param {SavedRow} row */
function shapes(row) {
  if (row.shape) return shapeText(row.shape);
  const sides = [row.first, row.second].flatMap((side) => (side ? [shapeText(side.shape)] : []));
  return [...new Set(sides)].join(" → ");
}

/**
 * Return the value of a cell for CSV, null if it is missing. Shapes and states are texts.
 * @param {App} app
 * @param {SavedRow} row
 * @param {string} key
 */
export function plain({ t }, row, key) {
  if (key === "shape") return shapes(row);
  return key === "state" ? t(`dump.weights.state.${row.state}`) : valueOf(row, key);
}

/**
 * Create the cells of a row.
 * @param {App} app
 * @param {"tensors" | "compare"} mode
 * @param {SavedRow} row
 * @param {() => void} open
 */
export function cells(app, mode, row, open) {
  return columnsOf(mode).map(({ key, number: numeric }) => {
    if (key === "name") {
      const broken = mode === "tensors" ? nonFinite(row) : row.non_finite_elements;
      return h(
        "td",
        { class: broken ? "name strange" : "name", title: row.name },
        h(
          "button",
          { type: "button", class: "link", "data-focus": `open:${row.name}`, onclick: open },
          row.name,
        ),
      );
    }
    if (key === "shape") return h("td", { class: "mono" }, shapes(row));
    if (key === "state") return h("td", null, badge(app, row));
    if (row.error && key === "nans") return h("td", { class: "strange" }, app.t(row.error.reason));
    const value = valueOf(row, key);
    const both = key === "non_finite_elements" && value ? row.non_finite : null;
    const text = both?.map((count) => (count === null ? "–" : number(app, count))).join(" → ");
    const loud = LOUD.includes(key) && value;
    const style = [numeric && "number", loud && "strange"].filter(Boolean).join(" ");
    return h("td", { class: style }, text ?? (value === null ? "" : number(app, value)));
  });
}

/** Create the badge with the state of a tensor. @param {App} app @param {SavedRow} row */
function badge(app, row) {
  const { t } = app;
  const why = row.error ? reasonText(app, row.error) : null;
  const style = ["unchanged", "bits"].includes(row.state ?? "") ? "badge" : "badge warn";
  return h("span", { class: style, title: why }, t(`dump.weights.state.${row.state}`));
}
