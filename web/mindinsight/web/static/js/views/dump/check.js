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
/** @typedef {import("../../core/answers.js").CheckFinding} CheckFinding */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../dump.js").Page} Page */

const MOST_STEPS = 8; // named in a row
const OPEN_ROWS = 3; // of one condition at the same steps; the others are folded
const OF_HITS = ["claim.check.more", "claim.check.undecided"]; // notes that belong to what was found
const NONE_FOUND = "claim.check.none";
const COMMON = "common"; // in an address that asks for the common check
const POLL = 500; // ms between two requests for hits

/**
 * Create the Check tab of a dump: first fault, overflows, anomalies, watchpoints, weights and gradients.
 * @param {Page} page
 */
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
  const common = button(t("dump.check.common"), () => (app.url.set({ check: COMMON }), start([])), {
    class: "primary",
  });
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
      ({ check }) => {
        page.check = { dump: state.dump, check, common: !watchpoints.length };
        fetch(check);
      },
      fail,
    );
  };

  /** @param {number} check number of it */
  const fetch = (check) =>
    requests.ask(
      () => app.api.get(`v2/dump/check/${check}`, { limit: 1000 }),
      (response) => {
        if (response.done && follow(page, response.findings)) return;
        replace(hits, statements(page, response.claims), list(page, response));
        if (!response.done) requests.later(() => fetch(check), POLL);
      },
      fail,
    );

  const known = page.check?.dump === state.dump ? page.check : null; // at another step
  if (known) fetch(known.check);
  else if (app.url.get("check") === COMMON) start([]);
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

/**
 * Go to the step of the first finding of a common check, unless the address names a step. Return whether the
 * page changed: the check is then shown again.
 * @param {Page} page
 * @param {CheckFinding[]} findings
 */
function follow({ state, check, asked, change }, [first]) {
  if (!first || !check?.common || asked || (first.step === state.step && first.rank === state.rank)) {
    return false;
  }
  change({ rank: first.rank, step: first.step });
  return true;
}

/**
 * Create the claims of a check: findings and what is unknown, and notes about the check folded away.
 * @param {Page} page
 * @param {Claim[]} claims
 */
function statements({ app }, claims) {
  const element = (/** @type {Claim} */ claim, /** @type {number} */ index) =>
    claimElement(app, claim, { class: index === 0 ? "dump-verdict" : "" });
  const isScope = (/** @type {Claim} */ { key, verdict }) => verdict === "note" && !OF_HITS.includes(key);
  const scope = claims.filter(isScope);
  return [
    claims.filter((claim) => !isScope(claim)).map(element),
    scope.length > 0 &&
      h(
        "details",
        { class: "small" },
        h("summary", null, app.t("dump.check.scope")),
        scope.map((claim) => claimElement(app, claim)),
      ),
  ];
}

/** Create the table of hits with its status. @param {Page} page @param {Hits} response */
function list(page, response) {
  const { t } = page.app;
  const more = response.findings_total - response.findings.length;
  const status = [
    t("dump.check.hits", { n: response.total }),
    response.total > 0 && t("dump.check.rows", { n: response.findings_total }),
    more > 0 && t("dump.left_out", { n: more }),
    !response.done && t("common.loading"),
    response.error,
  ]
    .filter(Boolean)
    .join(" · ");
  const head = ["condition", "rank", "step", "operator", "slot", "because"].map((key) =>
    h("th", null, t(`dump.column.${key}`)),
  );
  const table = h(
    "div",
    { class: "scroll dump-hits", tabindex: "0" },
    h(
      "table",
      { class: "table" },
      h("thead", null, h("tr", null, head)),
      similar(response.findings).map((findings) => findingRows(page, findings)),
    ),
  );
  const rows = h("div", { class: "stack" }, h("p", { role: "status" }, status), response.total > 0 && table);
  // What met a condition and is no fault, such as a frozen layer, does not contradict that nothing was found.
  const healthy = response.done && response.claims.some(({ key }) => key === NONE_FOUND);
  if (!healthy || !response.total) return rows;
  return h("details", { class: "small" }, h("summary", null, t("dump.check.healthy")), rows);
}

/**
 * Group findings of one condition at the same steps and ranks, such as those of all layers of a network. The
 * order is that of the first of each group.
 * @param {CheckFinding[]} findings
 */
function similar(findings) {
  const groups = new Map();
  for (const finding of findings) {
    const key = JSON.stringify([finding.condition, finding.ranks, finding.steps]);
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()];
}

/**
 * Create the rows of similar findings: the first of them, and a button that shows the others.
 * @param {Page} page
 * @param {CheckFinding[]} findings
 */
function findingRows(page, findings) {
  const rows = findings.map((finding) => findingRow(page, finding));
  if (rows.length <= OPEN_ROWS + 1) return h("tbody", null, rows);
  const open = () => body.append(...rows.slice(OPEN_ROWS)); // in place of the button's row
  const label = page.app.t("dump.check.similar", { n: rows.length - OPEN_ROWS });
  const more = h(
    "tr",
    null,
    h(
      "td",
      { colspan: 6 },
      button(label, () => (more.remove(), open()), { class: "link" }),
    ),
  );
  const body = h("tbody", null, rows.slice(0, OPEN_ROWS), more);
  return body;
}

/**
 * Create the row of the hits of one condition on the tensors of one operator.
 * @param {Page} page
 * @param {CheckFinding} finding
 */
function findingRow(page, finding) {
  const { app } = page;
  const { tensor } = finding;
  return h(
    "tr",
    null,
    h("td", null, conditionName(app.t, finding.condition)),
    h("td", null, finding.ranks.join(", ")),
    h("td", null, stepsText(finding.steps)),
    h(
      "td",
      { class: "name" },
      button(short(tensor.operator), opening(page, tensor, { rank: finding.rank, step: finding.step }), {
        class: "link",
        title: tensor.operator,
      }),
    ),
    h("td", null, finding.slots.map((slot) => slotText(app, slot)).join(", ")),
    h("td", { class: "muted" }, reasonText(app, finding)),
  );
}

/** Return the first steps as text. @param {number[]} steps */
function stepsText(steps) {
  return steps.length > MOST_STEPS ? `${steps.slice(0, MOST_STEPS).join(", ")}, …` : steps.join(", ");
}
