// Weights and gradients of this step against the dumped step before it.

import { button } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { number, short } from "./rows.js";

/** @typedef {import("../dump.js").Page} Page */

/** @param {Page} page */
export function trendsSection(page) {
  const { app, state, summary } = page;
  const { t } = app;
  const steps = summary?.ranks.find((/** @type {any} */ one) => one.rank === state.rank)?.steps ?? [];
  const before = steps[steps.indexOf(state.step) - 1];
  const result = h("div");

  const run = async () => {
    replace(result, h("p", { class: "booting", role: "status" }, t("common.loading")));
    const { trends } = await app.api.get("v2/dump/trends", { dump: state.dump, rank: state.rank, step: state.step, before });
    replace(result, trends.length ? table(trends) : h("p", { class: "muted" }, t("dump.trends.none")));
  };

  /** @param {any[]} trends */
  const table = (trends) => {
    const order = (/** @type {any} */ one) => (one.state ? 0 : 1);
    const head = [["operator"], ["kind"], ["before", "number"], ["now", "number"], ["ratio", "number"], ["state"]];
    return h("div", { class: "scroll dump-hits", tabindex: "0" }, h("table", { class: "table" }, h("thead", null, h("tr", null, head.map(([key, kind]) => h("th", { class: kind }, t(`dump.trends.${key}`))))), h("tbody", null, [...trends].sort((a, b) => order(a) - order(b)).map(row))));
  };

  /** @param {any} one */
  const row = (one) => {
    const open = () => page.change({ graph: one.graph, operator: one.recorded, tensor: `${one.direction}/${one.slot}` });
    return h(
      "tr",
      null,
      h("td", null, h("button", { type: "button", class: "link", title: one.operator, onclick: open }, short(one.operator))),
      h("td", null, t(`dump.trends.${one.kind}`)),
      ["before", "now", "ratio"].map((key) => h("td", { class: "number" }, number(app, one[key]))),
      h("td", null, one.state && h("span", { class: "badge warn" }, t(`dump.trends.state.${one.state}`))),
    );
  };

  const about = before === undefined ? h("p", { class: "muted" }, t("dump.trends.first")) : button(t("dump.trends.start", { step: state.step, before }), run);
  return h("section", { class: "panel stack" }, h("h2", null, t("dump.trends.title")), h("div", { class: "row" }, about), result);
}
