// What a comparison found: where the two part, how many agree, and a row for each pair of tensors.

import { h } from "../../core/dom.js";
import { opening } from "./fault.js";
import { number, short, slotText } from "./rows.js";

/** @typedef {import("../dump.js").Page} Page */

const MEASURES = [
  "lost",
  "cosine",
  "max_absolute",
  "max_relative",
  "one_thousandth",
  "five_thousandths",
  "norm_error",
];
const BADGES = { pass: "ok", warning: "warn", error: "bad" };

/** @param {Page} page @param {any} answer */
export function verdict(page, answer) {
  const { t } = page.app;
  const { divergence, levels } = answer;
  const counts = [
    t("dump.compare.counted", { done: answer.compared, all: answer.all }),
    t("dump.compare.levels", { pass: levels.pass, warning: levels.warning, error: levels.error }),
    t("dump.compare.beyond", { n: answer.beyond }),
  ];
  return [
    divergence
      ? parting(page, divergence)
      : h("p", null, answer.done ? t("dump.compare.agree") : t("common.loading")),
    h("p", { role: "status" }, counts.join(" · ")),
    answer.error && h("p", null, h("span", { class: "strange" }, answer.error)),
  ];
}

/** @param {Page} page @param {any} divergence */
function parting(page, divergence) {
  const { app } = page;
  const [tensor] = divergence.tensors;
  return h(
    "p",
    null,
    h("span", { class: "badge bad" }, app.t(`dump.compare.${divergence.kind}`)),
    " ",
    h(
      "button",
      { type: "button", class: "link wrapped", onclick: opening(page, tensor, {}) },
      tensor.operator,
    ),
    " ",
    h("span", { class: "muted" }, slotText(app, tensor)),
  );
}

/** @param {Page} page @param {any} answer */
export function comparedTable(page, answer) {
  const { t } = page.app;
  const measures = MEASURES.filter((key) =>
    answer.rows.some((/** @type {any} */ pair) => pair[key] !== null && pair[key] !== undefined),
  );
  const heads = ["operator", "slot", "matched", ...measures, "result"].map((key) =>
    h("th", { class: measures.includes(key) ? "number" : null }, t(`dump.column.${key}`)),
  );
  const more = answer.total - answer.rows.length;
  return h(
    "div",
    { class: "panel scroll dump-compared", tabindex: "0" },
    h(
      "table",
      { class: "table" },
      h("thead", null, h("tr", null, heads)),
      h(
        "tbody",
        null,
        answer.rows.map((/** @type {any} */ pair) => row(page, pair, measures)),
      ),
    ),
    more > 0 && h("p", { class: "muted" }, t("dump.compare.more", { n: more })),
  );
}

/** @param {Page} page @param {any} pair @param {string[]} measures columns that have values */
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
    { class: pair.beyond ? "far" : null },
    h("td", { class: "name" }, name),
    h("td", null, slotText(app, tensor)),
    h(
      "td",
      { class: "muted" },
      alone
        ? t(`dump.compare.alone.${isTarget ? "target" : "reference"}`)
        : t(`dump.compare.by.${pair.matched_by}`),
    ),
    measures.map((key) => h("td", { class: "number" }, pair[key] === null ? "–" : number(app, pair[key]))),
    level(page, pair),
  );
}

/** @param {Page} page @param {any} pair */
function level({ app: { t } }, pair) {
  const why = pair.codes.map((/** @type {string} */ code) => t(`dump.compare.code.${code}`)).join("; ");
  const argumentPair =
    pair.target_argument !== null &&
    h("span", { class: "mono" }, ` ${pair.target_argument} ↔ ${pair.reference_argument}`);
  const damage =
    pair.damage &&
    h("span", { class: "strange" }, ` ${pair.damage.file}: ${t(pair.damage.reason)} ${pair.damage.detail}`);
  return h(
    "td",
    { title: why },
    h(
      "span",
      { class: `badge ${BADGES[/** @type {"pass"} */ (pair.result)]}` },
      t(`dump.compare.level.${pair.result}`),
    ),
    why && h("span", { class: "muted" }, ` ${why}`),
    argumentPair,
    damage,
  );
}
