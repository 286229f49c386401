// Check tab of a dump: first fault, device overflows, common anomalies, watchpoints, weights and gradients.

import { claimElement } from "../../core/claims.js";
import { button } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "../../components/dump/failure.js";
import { faultSection, opening, overflowSection } from "./fault.js";
import { conditionName, reasonText } from "./reasons.js";
import { short, slotText } from "../../components/dump/rows.js";
import { trendsSection } from "./trends.js";
import { watchForm } from "./watch.js";

/** @typedef {import("../../core/claims.js").Claim} Claim */
/** @typedef {import("../../core/answers.js").Hits} Hits */
/** @typedef {import("../../core/answers.js").Hit} Hit */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../dump.js").Page} Page */

const POLL = 500; // ms between two requests for hits

/** Create the tab. @param {Page} page */
export function checkPart(page) {
  const sections = [faultSection(page), overflowSection(page), conditionSection(page), trendsSection(page)];
  return {
    element: h(
      "div",
      { class: "stack" },
      sections.map((section) => section.element),
    ),
    end: () => sections.forEach((section) => section.end()),
  };
}

/**
 * Create the section of common checks and the user's watchpoints. Hits appear while the check runs.
 * @param {Page} page
 */
function conditionSection(page) {
  const { app, state } = page;
  const { t } = app;
  const requests = latest();
  const building = latest();
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
  const fail = (/** @type {Failure} */ error) => replace(hits, failure(app, error));

  /** @param {object[]} watchpoints */
  const start = (watchpoints) => {
    replace(hits, h("p", { class: "booting", role: "status" }, t("common.loading")));
    requests.ask(
      () => app.api.send("POST", "v2/dump/check", { dump: state.dump, watchpoints }),
      ({ check }) => fetch(check),
      fail,
    );
  };

  /** @param {number} check number of it */
  const fetch = (check) =>
    requests.ask(
      () => app.api.get(`v2/dump/check/${check}`, { limit: 1000 }),
      (response) => {
        replace(
          hits,
          response.claims.map((/** @type {Claim} */ claim) => claimElement(page.app, claim)),
          list(page, response),
        );
        if (!response.done) requests.later(() => fetch(check), POLL);
      },
      fail,
    );

  building.ask(
    () => watchForm(page, start),
    (fields) => replace(form, fields),
    (error) => replace(form, failure(app, error)),
  );
  return {
    element,
    end() {
      requests.end();
      building.end();
    },
  };
}

/** Create the table of hits with its status. @param {Page} page @param {Hits} response */
function list(page, response) {
  const { t } = page.app;
  const more = response.total - response.hits.length;
  const status = [
    t("dump.check.hits", { n: response.total }),
    response.unjudged && t("dump.check.unjudged", { n: response.unjudged }),
    more > 0 && t("dump.left_out", { n: more }),
    !response.done && t("common.loading"),
    response.error,
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
        response.hits.map((hit) => hitRow(page, hit)),
      ),
    ),
  );
  return h("div", { class: "stack" }, h("p", { role: "status" }, status), response.total > 0 && table);
}

/** Create the row of a hit. @param {Page} page @param {Hit} hit */
function hitRow(page, hit) {
  const { app } = page;
  const { tensor } = hit;
  return h(
    "tr",
    null,
    h("td", null, conditionName(app.t, hit.condition)),
    h("td", { class: "number" }, hit.rank),
    h("td", { class: "number" }, hit.step),
    h(
      "td",
      { class: "name" },
      button(short(tensor.operator), opening(page, tensor, { rank: hit.rank, step: hit.step }), {
        class: "link",
        title: tensor.operator,
      }),
    ),
    h("td", null, slotText(app, tensor)),
    h("td", { class: "muted" }, reasonText(app, hit)),
  );
}
