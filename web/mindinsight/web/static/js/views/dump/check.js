// Where it went wrong: the first fault, the common faults, watchpoints of one's own, weights and gradients.

import { button } from "../../components/button.js";
import { empty } from "../../components/empty.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { sourceLine } from "./operator.js";
import { number, short, slotText } from "./rows.js";
import { trendsSection } from "./trends.js";
import { watchForm } from "./watch.js";

/** @typedef {import("../dump.js").Page} Page */

const ASKING = 500; // ms between two questions for hits

/** @param {Page} page */
export function checkPart(page) {
  const { app, state } = page;
  const { t } = app;
  const first = h("section", { class: "panel" });
  const hits = h("div");
  const form = h("div");
  const trends = h("div");
  const overflows = h("div");
  const common = button(t("dump.check.common"), () => start([]), { class: "primary" });
  const element = h("div", { class: "stack" }, first, overflows, h("section", { class: "panel stack" }, h("h2", null, t("dump.check.title")), h("p", { class: "muted" }, t("dump.check.how")), h("div", { class: "row" }, common), form, hits), trends);
  let timer = 0;
  let ended = false;

  const findFault = async () => {
    replace(first, h("h2", null, t("dump.fault.title")), h("p", { class: "booting", role: "status" }, t("dump.fault.searching")));
    try {
      const { faults } = await app.api.get("v2/dump/fault", { dump: state.dump });
      if (!ended) replace(first, h("h2", null, t("dump.fault.title")), faults.length ? faults.map(told) : h("p", null, icon("check"), " ", t("dump.fault.none")));
    } catch (/** @type {any} */ error) {
      if (!ended) replace(first, empty({ icon: "warning", title: t(error.key ?? "error.view", error.vars) }));
    }
  };

  const findOverflows = async () => {
    const answer = await app.api.get("v2/dump/overflows", { dump: state.dump, rank: state.rank, step: state.step });
    if (ended || !answer.overflows.length) return;
    const item = (/** @type {any} */ one) => h("li", null, h("strong", null, one.operator || "–"), " ", h("span", { class: "muted" }, t("dump.overflow.row", one)));
    replace(overflows, h("section", { class: "panel" }, h("h2", null, t("dump.overflow.title")), h("ul", { class: "dump-links" }, answer.overflows.map(item))));
  };

  /** @param {any} fault */
  const told = (fault) => {
    const [tensor] = fault.tensors;
    const open = () => page.change({ rank: fault.rank, step: fault.step, graph: tensor.graph, operator: tensor.recorded, tensor: `${tensor.direction}/${tensor.slot}` });
    const found = tensor.statistics;
    return h(
      "div",
      { class: "stack dump-fault" },
      h("p", null, h("span", { class: "badge bad" }, t(`dump.fault.${fault.kind}`)), " ", t("dump.fault.where", { rank: fault.rank, step: fault.step })),
      h("p", null, h("button", { type: "button", class: "link wrapped", onclick: open }, tensor.operator), " ", h("span", { class: "muted" }, `${tensor.type} · ${slotText(app, tensor)}`)),
      found && h("p", { class: "strange" }, t("dump.fault.counts", { nans: found.nans, infs: found.positive_infs + found.negative_infs, count: found.count })),
      sourceLine(page, fault.operator?.source),
    );
  };

  /** @param {any[]} watchpoints */
  const start = async (watchpoints) => {
    clearTimeout(timer);
    replace(hits, h("p", { class: "booting", role: "status" }, t("common.loading")));
    try {
      const { check } = await app.api.send("POST", "v2/dump/check", { dump: state.dump, watchpoints });
      await ask(check);
    } catch (/** @type {any} */ error) {
      replace(hits, h("div", { class: "banner bad", role: "alert" }, icon("warning"), t(error.key ?? "error.view", error.vars)));
    }
  };

  /** @param {number} number */
  const ask = async (number) => {
    const answer = await app.api.get(`v2/dump/check/${number}`, { limit: 1000 });
    if (ended) return;
    replace(hits, list(answer));
    if (!answer.done) timer = window.setTimeout(() => ask(number), ASKING);
  };

  /** @param {any} answer */
  const list = (answer) => {
    const status = [t("dump.check.hits", { n: answer.total }), answer.unjudged && t("dump.check.unjudged", { n: answer.unjudged }), !answer.done && t("common.loading"), answer.error].filter(Boolean).join(" · ");
    const head = ["condition", "rank", "step", "operator", "slot", "because"].map((key) => h("th", null, t(`dump.column.${key}`)));
    const table = h("div", { class: "scroll dump-hits", tabindex: "0" }, h("table", { class: "table" }, h("thead", null, h("tr", null, head)), h("tbody", null, answer.hits.map(hit))));
    return h("div", { class: "stack" }, h("p", { role: "status" }, status), answer.total > 0 && table);
  };

  /** @param {any} one */
  const hit = (one) => {
    const { tensor } = one;
    const open = () => page.change({ rank: one.rank, step: one.step, graph: tensor.graph, operator: tensor.recorded, tensor: `${tensor.direction}/${tensor.slot}` });
    const because = one.findings.filter((/** @type {any} */ finding) => finding.hit).map((/** @type {any} */ finding) => `${finding.name} ${number(app, one.limits[finding.name])}: ${number(app, finding.actual)}`);
    return h(
      "tr",
      null,
      h("td", null, t(`dump.condition.${one.condition}`)),
      h("td", { class: "number" }, one.rank),
      h("td", { class: "number" }, one.step),
      h("td", null, h("button", { type: "button", class: "link", title: tensor.operator, onclick: open }, short(tensor.operator))),
      h("td", null, slotText(app, tensor)),
      h("td", { class: "muted" }, because.join(", ")),
    );
  };

  findFault();
  findOverflows();
  watchForm(page, start).then((made) => !ended && replace(form, made));
  replace(trends, trendsSection(page));
  return {
    element,
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}
