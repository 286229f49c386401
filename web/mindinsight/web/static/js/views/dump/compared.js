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
  const heads = ["operator", "slot", "matched", ...MEASURES, "result"].map((key) =>
    h("th", { class: MEASURES.includes(key) ? "number" : null }, t(`dump.column.${key}`)),
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
        answer.rows.map((/** @type {any} */ one) => row(page, one)),
      ),
    ),
    more > 0 && h("p", { class: "muted" }, t("dump.compare.more", { n: more })),
  );
}

/** @param {Page} page @param {any} one */
function row(page, one) {
  const { app } = page;
  const { t } = app;
  const tensor = one.target_tensor ?? one.reference_tensor;
  const mine = Boolean(one.target_tensor);
  const alone = !one.target_tensor || !one.reference_tensor;
  const name = mine
    ? h(
        "button",
        {
          type: "button",
          class: "link",
          title: `${one.target} ↔ ${one.reference ?? "–"}`,
          onclick: opening(page, tensor, {}),
        },
        short(tensor.operator),
      )
    : h("span", { title: tensor.operator }, short(tensor.operator));
  return h(
    "tr",
    { class: one.beyond ? "far" : null },
    h("td", { class: "name" }, name),
    h("td", null, slotText(app, tensor)),
    h(
      "td",
      { class: "muted" },
      alone
        ? t(`dump.compare.alone.${mine ? "target" : "reference"}`)
        : t(`dump.compare.by.${one.matched_by}`),
    ),
    MEASURES.map((key) => h("td", { class: "number" }, one[key] === null ? "–" : number(app, one[key]))),
    level(page, one),
  );
}

/** @param {Page} page @param {any} one */
function level({ app: { t } }, one) {
  const why = one.codes.map((/** @type {string} */ code) => t(`dump.compare.code.${code}`)).join("; ");
  const given =
    one.target_argument !== null &&
    h("span", { class: "mono" }, ` ${one.target_argument} ↔ ${one.reference_argument}`);
  const damage =
    one.damage &&
    h("span", { class: "strange" }, ` ${one.damage.file}: ${t(one.damage.reason)} ${one.damage.detail}`);
  return h(
    "td",
    { title: why },
    h(
      "span",
      { class: `badge ${BADGES[/** @type {"pass"} */ (one.result)]}` },
      t(`dump.compare.level.${one.result}`),
    ),
    why && h("span", { class: "muted" }, ` ${why}`),
    given,
    damage,
  );
}
