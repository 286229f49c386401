// Where it went wrong: the first fault, the common faults, watchpoints of one's own, weights and gradients.

import { button } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "./failure.js";
import { faultSection, opening, overflowSection } from "./fault.js";
import { number, short, slotText } from "./rows.js";
import { trendsSection } from "./trends.js";
import { watchForm } from "./watch.js";

/** @typedef {import("../dump.js").Page} Page */

const ASKING = 500; // ms between two questions for hits

/** @param {Page} page */
export function checkPart(page) {
  const parts = [faultSection(page), overflowSection(page), conditionSection(page), trendsSection(page)];
  return {
    element: h(
      "div",
      { class: "stack" },
      parts.map((part) => part.element),
    ),
    end: () => parts.forEach((part) => part.end()),
  };
}

/** @param {Page} page */
function conditionSection(page) {
  const { app, state } = page;
  const { t } = app;
  const asking = latest();
  const making = latest();
  const hits = h("div");
  const form = h("div");
  const common = button(t("dump.check.common"), () => start([]), { class: "primary" });
  const element = h(
    "section",
    { class: "panel stack" },
    h("h2", null, t("dump.check.title")),
    h("p", { class: "muted" }, t("dump.check.how")),
    h("div", { class: "row" }, common),
    form,
    hits,
  );
  const fail = (/** @type {any} */ error) => replace(hits, failure(app, error));

  /** @param {any[]} watchpoints */
  const start = (watchpoints) => {
    replace(hits, h("p", { class: "booting", role: "status" }, t("common.loading")));
    asking.ask(
      () => app.api.send("POST", "v2/dump/check", { dump: state.dump, watchpoints }),
      ({ check }) => ask(check),
      fail,
    );
  };

  /** @param {number} number */
  const ask = (number) =>
    asking.ask(
      () => app.api.get(`v2/dump/check/${number}`, { limit: 1000 }),
      (answer) => {
        replace(hits, list(page, answer));
        if (!answer.done) asking.later(() => ask(number), ASKING);
      },
      fail,
    );

  making.ask(
    () => watchForm(page, start),
    (made) => replace(form, made),
    (error) => replace(form, failure(app, error)),
  );
  return {
    element,
    end() {
      asking.end();
      making.end();
    },
  };
}

/** @param {Page} page @param {any} answer */
function list(page, answer) {
  const { t } = page.app;
  const more = answer.total - answer.hits.length;
  const status = [
    t("dump.check.hits", { n: answer.total }),
    answer.unjudged && t("dump.check.unjudged", { n: answer.unjudged }),
    more > 0 && t("dump.left_out", { n: more }),
    !answer.done && t("common.loading"),
    answer.error,
  ]
    .filter(Boolean)
    .join(" · ");
  const head = ["condition", "rank", "step", "operator", "slot", "because"].map((key) =>
    h("th", { class: ["rank", "step"].includes(key) ? "number" : null }, t(`dump.column.${key}`)),
  );
  const table = h(
    "div",
    { class: "scroll dump-hits", tabindex: "0" },
    h(
      "table",
      { class: "table" },
      h("thead", null, h("tr", null, head)),
      h(
        "tbody",
        null,
        answer.hits.map((/** @type {any} */ one) => hit(page, one)),
      ),
    ),
  );
  return h("div", { class: "stack" }, h("p", { role: "status" }, status), answer.total > 0 && table);
}

/** @param {Page} page @param {any} one */
function hit(page, one) {
  const { app } = page;
  const { tensor } = one;
  const because = one.findings
    .filter((/** @type {any} */ finding) => finding.hit)
    .map(
      (/** @type {any} */ finding) =>
        `${finding.name} ${number(app, one.limits[finding.name])}: ${number(app, finding.actual)}`,
    );
  return h(
    "tr",
    null,
    h("td", null, app.t(`dump.condition.${one.condition}`)),
    h("td", { class: "number" }, one.rank),
    h("td", { class: "number" }, one.step),
    h(
      "td",
      { class: "name" },
      h(
        "button",
        {
          type: "button",
          class: "link",
          title: tensor.operator,
          onclick: opening(page, tensor, { rank: one.rank, step: one.step }),
        },
        short(tensor.operator),
      ),
    ),
    h("td", null, slotText(app, tensor)),
    h("td", { class: "muted" }, because.join(", ")),
  );
}
