// Verdict of a comparison, and a table with one row for each pair of tensors.

import { claimElement } from "../../core/claims.js";
import { h } from "../../core/dom.js";
import { opening } from "./fault.js";
import { reasonText } from "../../components/dump/failure.js";
import { number, short, slotText } from "../../components/dump/rows.js";

/** @typedef {import("../../core/answers.js").Slot} Slot */
/** @typedef {import("../../core/answers.js").Compared} Compared */
/** @typedef {import("../../core/answers.js").Pair} Pair */
/** @typedef {import("../../core/claims.js").Claim} Claim */
/** @typedef {import("../dump.js").Page} Page */

const LOST = ["lost"];
const OF_VALUES = [
  "relative_distance", // what the verdict rests on
  "cosine",
  "max_absolute",
  "max_relative",
  "one_thousandth",
  "five_thousandths",
];
const OF_STATISTICS = ["max_diff", "min_diff", "mean_diff", "l2norm_diff", "norm_error"];
const FEW = [...LOST, ...OF_VALUES, "distance", "norm_error"];
const BADGES = { agree: "ok", differ: "bad", unknown: "warn", order: "", alone: "" };

/**
 * Return the claims of the comparison, the counts and the tolerances.
 * @param {Page} page
 * @param {Compared} answer
 */
export function verdict(page, answer) {
  const { app } = page;
  const { t, format } = app;
  const counts = Object.entries(answer.counts)
    .filter(([, n]) => n)
    .map(([state, n]) => t(`dump.compare.counts.${state}`, { n }));
  const { agree, differ } = answer.counts; // the other rows have no partner, or no values
  const limits = Object.entries(answer.tolerances)
    .filter(([, limit]) => limit) // without one, values must be equal
    .map(([dtype, limit]) => `${dtype} ${format.number(limit)}`);
  return [
    answer.claims.map((claim, i) => statement(page, claim, i === 0)),
    !answer.done && h("p", { class: "booting" }, t("common.loading")),
    h(
      "p",
      { role: "status" },
      [t("dump.compare.counted", { done: agree + differ, all: answer.all }), ...counts].join(" · "),
    ),
    limits.length > 0 && h("p", { class: "muted small" }, t("dump.compare.tolerance", { limits })),
    answer.error && h("p", null, h("span", { class: "strange" }, answer.error)),
  ];
}

/**
 * Create a claim with a link to the tensor it is about.
 * @param {Page} page
 * @param {Claim} claim
 * @param {boolean} heading whether it is the most important
 */
function statement(page, claim, heading) {
  const element = claimElement(page.app, claim, heading ? { class: "dump-verdict" } : {});
  const [tensor] = /** @type {Slot[]} */ (claim.evidence);
  if (tensor?.recorded) {
    const open = opening(page, tensor, {});
    const attrs = { type: "button", class: "link wrapped", onclick: open };
    element.append(" ", h("button", attrs, `${short(tensor.operator)} ${slotText(page.app, tensor)}`));
  }
  return element;
}

/** Create the table of compared tensors, a row for each pair. @param {Page} page @param {Compared} answer */
export function comparedTable(page, answer) {
  const { t } = page.app;
  const measures = measuresOf(answer.rows);
  const heads = ["operator", "slot", "agrees", "because", ...measures, "matched"].map((key) =>
    h("th", { class: measures.includes(key) ? "number" : null }, t(`dump.column.${key}`)),
  );
  const last = answer.offset + answer.rows.length;
  const range = { first: answer.offset + 1, last, total: answer.total };
  return h(
    "div",
    { class: "panel scroll dump-compared", tabindex: "0" },
    answer.total > answer.rows.length && h("p", { class: "muted" }, t("dump.compare.range", range)),
    h(
      "table",
      { class: "table" },
      h("thead", null, h("tr", null, heads)),
      h(
        "tbody",
        null,
        answer.rows.map((pair) => row(page, pair, measures)),
      ),
    ),
  );
}

/**
 * Return the columns that have values: those of values if any were compared, otherwise those of statistics.
 * @param {Pair[]} rows
 */
function measuresOf(rows) {
  const known = (/** @type {string} */ key) => rows.some((pair) => (pair[key] ?? null) !== null);
  return (OF_VALUES.some(known) ? FEW : [...LOST, ...OF_STATISTICS]).filter(known);
}

/**
 * Create the row of a pair.
 * @param {Page} page
 * @param {Pair} pair
 * @param {string[]} measures columns that have values
 */
function row(page, pair, measures) {
  const { app } = page;
  const { t } = app;
  const tensor = pair.target_tensor ?? pair.reference_tensor;
  const isTarget = Boolean(pair.target_tensor);
  const alone = !pair.target_tensor || !pair.reference_tensor;
  const name = isTarget
    ? h(
        "button",
        {
          type: "button",
          class: "link",
          title: `${pair.target} ↔ ${pair.reference ?? "–"}`,
          onclick: opening(page, tensor, {}),
        },
        short(tensor.operator),
      )
    : h("span", { title: tensor.operator }, short(tensor.operator));
  return h(
    "tr",
    { class: alone ? "muted" : pair.state === "differ" ? "far" : null },
    h("td", { class: "name" }, name, pair.parameter && parameterText(pair.parameter, tensor.operator)),
    h("td", null, slotText(app, tensor)),
    agreement(page, pair),
    reason(page, pair),
    measures.map((key) =>
      h(
        "td",
        { class: "number" },
        pair[key] === null ? "–" : number(app, /** @type {number | string} */ (pair[key])),
      ),
    ),
    h(
      "td",
      { class: "muted" },
      alone
        ? t(`dump.compare.alone.${isTarget ? "target" : "reference"}`)
        : t(`dump.compare.by.${pair.matched_by}`),
    ),
  );
}

/**
 * Create the line with the parameter that a tensor is, unless it is the operator's name.
 * @param {string} parameter
 * @param {string} operator
 */
function parameterText(parameter, operator) {
  return parameter !== operator && h("div", { class: "muted small", title: parameter }, parameter);
}

/**
 * Create the cell that says whether two tensors agree within the tolerance.
 * @param {Page} page
 * @param {Pair} pair
 */
function agreement({ app: { t } }, { state }) {
  const badge = BADGES[/** @type {"agree"} */ (state)];
  return h("td", null, h("span", { class: `badge ${badge}` }, t(`dump.compare.state.${state}`)));
}

/**
 * Create the cell of the rules that a pair broke and of what could not be read.
 * @param {Page} page
 * @param {Pair} pair
 */
function reason({ app }, pair) {
  const { t } = app;
  const why = pair.codes.map((/** @type {string} */ code) => t(`dump.compare.code.${code}`)).join("; ");
  const argumentPair =
    pair.target_argument !== null &&
    h("span", { class: "mono" }, ` ${pair.target_argument} ↔ ${pair.reference_argument}`);
  const damage =
    pair.damage && h("span", { class: "strange" }, ` ${pair.damage.file}: ${reasonText(app, pair.damage)}`);
  return h("td", { class: "muted reason" }, why, argumentPair, damage);
}
