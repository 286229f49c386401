// Weights and gradients of this step against the previous dumped step.

import { button } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "../../components/dump/failure.js";
import { opening } from "./fault.js";
import { number, short } from "../../components/dump/rows.js";

/** @typedef {import("../../core/answers.js").Trend} Trend */
/** @typedef {import("../dump.js").Page} Page */

const HEAD = [
  ["operator"],
  ["kind"],
  ["before", "number"],
  ["now", "number"],
  ["ratio", "number"],
  ["state"],
];

/**
 * Create the section that compares weights and gradients of this step with the dumped step before.
 * @param {Page} page
 */
export function trendsSection(page) {
  const { app, state, summary } = page;
  const { t } = app;
  const steps = summary?.ranks.find((rank) => rank.rank === state.rank)?.steps ?? [];
  const before = steps[steps.indexOf(state.step) - 1];
  const asking = latest();
  const result = h("div");

  const run = () => {
    replace(result, h("p", { class: "booting", role: "status" }, t("common.loading")));
    asking.ask(
      () => app.api.get("v2/dump/trends", { dump: state.dump, rank: state.rank, step: state.step, before }),
      ({ trends }) =>
        replace(
          result,
          trends.length ? table(page, trends) : h("p", { class: "muted" }, t("dump.trends.none")),
        ),
      (error) => replace(result, failure(app, error)),
    );
  };

  const about =
    before === undefined
      ? h("p", { class: "muted" }, t("dump.trends.first"))
      : button(t("dump.trends.start", { step: state.step, before }), run);
  return {
    element: h(
      "section",
      { class: "panel stack" },
      h("h2", null, t("dump.trends.title")),
      h("div", { class: "row" }, about),
      result,
    ),
    end: asking.end,
  };
}

/** Create the table, anomalies first. @param {Page} page @param {Trend[]} trends */
function table(page, trends) {
  const order = (/** @type {Trend} */ trend) => (trend.state ? 0 : 1);
  const rows = [...trends].sort((a, b) => order(a) - order(b)).map((trend) => row(page, trend));
  const head = HEAD.map(([key, kind]) => h("th", { class: kind }, page.app.t(`dump.trends.${key}`)));
  return h(
    "div",
    { class: "scroll dump-hits", tabindex: "0" },
    h("table", { class: "table" }, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
  );
}

/** Create the row of a weight or gradient. @param {Page} page @param {Trend} trend */
function row(page, trend) {
  const { app } = page;
  return h(
    "tr",
    null,
    h(
      "td",
      { class: "name" },
      h(
        "button",
        { type: "button", class: "link", title: trend.operator, onclick: opening(page, trend, {}) },
        short(trend.operator),
      ),
    ),
    h("td", null, app.t(`dump.trends.${trend.kind}`)),
    /** @type {const} */ (["before", "now", "ratio"]).map((key) =>
      h("td", { class: "number" }, trend[key] === null ? "–" : number(app, trend[key])),
    ),
    h(
      "td",
      null,
      trend.state && h("span", { class: "badge warn" }, app.t(`dump.trends.state.${trend.state}`)),
    ),
  );
}
