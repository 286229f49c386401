// The tensors of a file of weights, and the differences of two, as tables.

import { h } from "../../core/dom.js";
import { lostElements, number, shapeText } from "./rows.js";

/** @typedef {import("../../core/types.js").App} App */

const STATISTICS = ["minimum", "maximum", "mean", "std", "norm", "zeros", "nans"];
const MEASURES = ["lost", "max_absolute", "relative_distance", "equal", "cosine"];

/** @param {App} app @param {any} answer */
export function weightsTold({ t }, answer) {
  const lost = answer.tensors.filter((/** @type {any} */ tensor) => lostElements(tensor.statistics));
  const damage = answer.damage.map((/** @type {any} */ record) => `${t(record.reason)} (${record.detail})`);
  return [
    answer.format,
    t("dump.weights.tensors", { n: answer.tensors.length }),
    lost.length && t("dump.not_finite", { n: lost.length }),
    ...damage,
    !answer.done && t("common.loading"),
    answer.error,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {App} app @param {any} answer */
export function weightsTable(app, answer) {
  const heads = [
    ...["name", "dtype", "shape"].map((key) => h("th", null, app.t(`dump.column.${key}`))),
    ...STATISTICS.map((key) => h("th", { class: "number" }, app.t(`dump.column.${key}`))),
  ];
  const rows = answer.tensors.map((/** @type {any} */ tensor) =>
    h(
      "tr",
      null,
      h("td", { class: "name" }, tensor.name),
      h("td", null, tensor.dtype),
      h("td", { class: "mono" }, shapeText(tensor.shape)),
      values(app, tensor),
    ),
  );
  return h("table", { class: "table" }, h("thead", null, h("tr", null, heads)), h("tbody", null, rows));
}

/** @param {App} app @param {any} tensor */
function values(app, tensor) {
  if (tensor.error) {
    return h(
      "td",
      { class: "strange", colspan: STATISTICS.length },
      `${app.t(tensor.error.reason)} ${tensor.error.detail}`,
    );
  }
  return STATISTICS.map((key) =>
    h(
      "td",
      { class: key === "nans" && tensor.statistics?.nans ? "number strange" : "number" },
      tensor.statistics ? number(app, tensor.statistics[key]) : "",
    ),
  );
}

/** How many of each state. @param {App} app @param {any} answer */
export function changed({ t }, answer) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const entry of answer.differences) counts[entry.state] = (counts[entry.state] ?? 0) + 1;
  const texts = Object.entries(counts).map(([state, n]) => `${n} ${t(`dump.weights.state.${state}`)}`);
  const damage = answer.damage.map((/** @type {any} */ record) => `${t(record.reason)} (${record.detail})`);
  return [...texts, ...damage, !answer.done && t("common.loading"), answer.error].filter(Boolean).join(" · ");
}

/** What changed first. @param {App} app @param {any} answer */
export function differenceTable(app, answer) {
  const { t } = app;
  const lost = (/** @type {any} */ entry) => entry.measures?.lost ?? 0;
  const order = (/** @type {any} */ entry) => (entry.state === "unchanged" ? 1 : -lost(entry));
  const heads = [
    ...["name", "state"].map((key) => h("th", null, t(`dump.column.${key}`))),
    ...MEASURES.map((key) => h("th", { class: "number" }, t(`dump.column.${key}`))),
    h("th", null, t("dump.column.shape")),
  ];
  const rows = [...answer.differences].sort((a, b) => order(a) - order(b)).map((row) => difference(app, row));
  return h("table", { class: "table" }, h("thead", null, h("tr", null, heads)), h("tbody", null, rows));
}

/** @param {App} app @param {any} tensor */
function difference(app, tensor) {
  const measures = { ...tensor.measures, equal: tensor.equal };
  const value = (/** @type {string} */ key) =>
    h(
      "td",
      { class: "number" },
      measures[key] === null || measures[key] === undefined ? "–" : number(app, measures[key]),
    );
  const shapes = [tensor.first, tensor.second].filter(Boolean).map((side) => shapeText(side.shape));
  const badge = h(
    "span",
    { class: tensor.state === "unchanged" ? "badge" : "badge warn" },
    app.t(`dump.weights.state.${tensor.state}`),
  );
  const why =
    tensor.error && h("span", { class: "strange" }, ` ${app.t(tensor.error.reason)} ${tensor.error.detail}`);
  return h(
    "tr",
    null,
    h("td", { class: "name" }, tensor.name),
    h("td", null, badge, why),
    MEASURES.map(value),
    h("td", { class: "mono" }, [...new Set(shapes)].join(" → ")),
  );
}
