// First fault of all steps and ranks, or of one step, and the device's overflow reports.

import { claimElement } from "../../core/claims.js";
import { button } from "../../components/button.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "../../components/dump/failure.js";
import { searchFault } from "../../components/dump/fault_search.js";
import { faultChain } from "./fault_chain.js";
import { sourceLine } from "./operator_facts.js";
import { infinities, slotText } from "../../components/dump/rows.js";

/** @typedef {import("../../core/answers.js").Overflow} Overflow */
/** @typedef {import("../../core/answers.js").Slot} Slot */
/** @typedef {import("../../core/answers.js").Disagreement} Disagreement */
/** @typedef {import("../../core/answers.js").Fault} Fault */
/** @typedef {import("../../core/answers.js").FirstFaults} FirstFaults */
/** @typedef {import("../../core/answers.js").Statistics} Statistics */
/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../../core/claims.js").Claim} Said */
/** @typedef {import("../../core/dom.js").Child} Child */
/** @typedef {import("../dump.js").Page} Page */

/**
 * Return a click handler that opens a tensor.
 * @param {Page} page
 * @param {Slot} tensor
 * @param {{rank?: number, step?: number}} position rank and step
 */
export function opening(page, tensor, position) {
  return () =>
    page.change({
      ...position,
      graph: tensor.graph,
      operator: tensor.recorded,
      tensor: `${tensor.direction}/${tensor.slot}`,
    });
}

/** Create the section of the first fault. @param {Page} page */
export function faultSection(page) {
  const { app, state } = page;
  const { t } = app;
  const search = latest();
  /** @type {ReturnType<typeof faultChain>[]} */
  const chains = [];
  const element = h("section", { class: "panel stack" });
  const scope = state.only
    ? h(
        "p",
        { class: "row wrap muted" },
        t(hasRanks(page) ? "dump.fault.only_step" : "dump.fault.only", {
          rank: state.rank,
          step: state.step,
        }),
        button(t("dump.fault.everywhere"), () => page.change({ only: false })),
      )
    : null;
  const show = (/** @type {Child[]} */ ...content) =>
    replace(element, h("h2", null, t("dump.fault.title")), scope, content);

  const take = (/** @type {FirstFaults} */ answer) =>
    show(
      answer.faults.length
        ? answer.faults.map((fault) => {
            const chain = faultChain(page, fault);
            chains.push(chain);
            return [verdict(page, fault), chain.element];
          })
        : [allClear(app, answer), answer.divergence && divergence(page, answer.divergence)],
      explainLink(page),
      answer.claims.filter(isScope).map((claim) => claimElement(app, claim, { class: "muted" })),
    );
  const ranks = hasRanks(page) ? {} : { rank: [state.rank] }; // this one may have received it from another
  const place = state.only ? { ...ranks, step: [state.step] } : {};
  const status = h("p", { class: "booting", role: "status" });
  show(status);
  if (page.faults?.dump === state.dump) take(page.faults.answer);
  else {
    searchFault(
      app,
      search,
      { dump: state.dump, ...place },
      {
        progress: (text) => (status.textContent = text),
        take(answer) {
          if (!follow(page, answer)) take(answer);
        },
        fail: (error) => show(failure(app, error)),
      },
    );
  }
  return {
    element,
    end() {
      search.end();
      chains.forEach((chain) => chain.end());
    },
  };
}

/** Return whether a dump has several ranks. @param {Page} page */
function hasRanks({ summary }) {
  return (summary?.ranks.length ?? 0) > 1;
}

/**
 * Go to the step of the first fault, unless the address names another step, or to its rank. Return whether
 * the page changed: then the answer is shown again beside what belongs to that step.
 * @param {Page} page
 * @param {FirstFaults} answer
 */
function follow(page, answer) {
  const { state } = page;
  const [fault] = answer.faults;
  if (!fault || (state.only ? !hasRanks(page) : page.asked)) return false;
  if (fault.step === state.step && fault.rank === state.rank) return false;
  page.faults = { dump: state.dump, answer };
  page.change({ rank: fault.rank, step: fault.step });
  page.faults = null;
  return true;
}

/**
 * Create the link to the explanation of the dump and its run, or return null if that is not known.
 * @param {Page} page
 */
function explainLink({ app, state, dumps }) {
  const run = app.selection.run(dumps.find(({ id }) => id === state.dump)?.run ?? "");
  if (!run) return null;
  const href = app.url.link("explain", { run: run.id, dump: state.dump });
  return h("p", null, h("a", { href }, app.t("explain.of", { run: run.name })));
}

/**
 * Create the statement made when no fault was found. It has no check mark: zeros, growth and frozen weights
 * are searched by the checks below it. The heading appears only if every tensor was judged.
 * @param {Page["app"]} app
 * @param {FirstFaults} answer
 */
function allClear(app, { claims, damage }) {
  const reported = (/** @type {Said} */ claim) => claim.key === "claim.ranks.reported";
  const said = claims.filter((claim) => reported(claim) || (!isScope(claim) && claim.verdict !== "found"));
  const harmless = claims.some(({ key }) => /^claim\.fault\.(masks|scaled)$/.test(key));
  const complete = !damage.length && claims.every((claim) => claim.verdict !== "unknown" && !reported(claim));
  return h(
    "div",
    { class: complete ? "" : "dump-unjudged" },
    h(
      "p",
      null,
      complete
        ? h("strong", null, app.t(harmless ? "dump.fault.harmless" : "dump.fault.clear"))
        : icon("warning"),
    ),
    said.map((claim) => claimElement(app, claim)),
  );
}

const SCOPE = ["searched", "not_recorded", "ranks_absent", "contradicted", "unlisted"];

/**
 * Return whether a claim is about what was searched or recorded.
 * @param {import("../../core/claims.js").Claim} claim
 */
function isScope({ key }) {
  return SCOPE.includes(key.replace("claim.fault.", ""));
}

/**
 * Return the numbers of NaN and infinite elements as text.
 * @param {Page["app"]} app
 * @param {Statistics} statistics
 */
function countsText(app, statistics) {
  const infs = infinities(statistics);
  if (statistics.nans === null || infs === null) return app.t("dump.lost_not_counted");
  return app.t("dump.fault.counts", { nans: statistics.nans, infs, count: statistics.count ?? "?" });
}

/**
 * Return the claims about a fault. A known cause comes first.
 * @param {Page["app"]} app
 * @param {Fault} fault
 */
function story(app, fault) {
  const [origin, cause, ...more] = fault.claims;
  const known = cause?.key.startsWith("claim.cause.") && cause.verdict !== "unknown";
  const [headline, ...rest] = known ? [cause, origin, ...more] : fault.claims;
  return [
    claimElement(app, headline, { class: "dump-verdict" }),
    rest.map((claim) => claimElement(app, claim)),
  ];
}

/** Create the description of a fault. @param {Page} page @param {Fault} fault */
function verdict(page, fault) {
  const { app } = page;
  const { t } = app;
  const [tensor] = fault.tensors;
  const statistics = tensor.statistics;
  return h(
    "div",
    { class: "stack dump-fault" },
    h(
      "p",
      null,
      h("span", { class: "badge bad" }, t(`dump.fault.badge.${fault.kind}`)),
      " ",
      t("dump.fault.where", { rank: fault.rank, step: fault.step }),
    ),
    story(page.app, fault),
    h(
      "p",
      null,
      h(
        "button",
        {
          type: "button",
          class: "link wrapped",
          onclick: opening(page, tensor, { rank: fault.rank, step: fault.step }),
        },
        tensor.operator,
      ),
      " ",
      h("span", { class: "muted" }, `${tensor.type} · ${slotText(app, tensor)}`),
    ),
    statistics && h("p", null, h("span", { class: "strange" }, countsText(app, statistics))),
    sourceLine(page, fault.operator?.source),
  );
}

/**
 * Create the description of the operator at which ranks disagree.
 * @param {Page} page
 * @param {Disagreement} found
 */
function divergence(page, found) {
  const { t } = page.app;
  const { tensor } = found;
  return h(
    "div",
    { class: "stack dump-fault" },
    h("p", null, h("span", { class: "badge bad" }, t("dump.ranks.title"))),
    found.claims.map((claim) => claimElement(page.app, claim, { class: "dump-verdict" })),
    h(
      "p",
      null,
      h(
        "button",
        {
          type: "button",
          class: "link wrapped",
          onclick: opening(page, tensor, { rank: found.rank, step: found.step }),
        },
        tensor.operator,
      ),
    ),
    found.operator?.source && h("p", { class: "muted" }, `${t("dump.rank")} ${found.rank}`),
    sourceLine(page, found.operator?.source),
  );
}

/** Create the section of overflows that the device reported for this step. @param {Page} page */
export function overflowSection(page) {
  const { app, state } = page;
  const { t } = app;
  const asking = latest();
  const element = h("div");
  const item = (/** @type {Overflow} */ overflow) =>
    h(
      "li",
      null,
      h("strong", null, overflow.operator || "–"),
      " ",
      h("span", { class: "muted" }, t("dump.overflow.row", overflow)),
    );
  asking.ask(
    () => app.api.get("v2/dump/overflows", { dump: state.dump, rank: state.rank, step: state.step }),
    ({ overflows }) =>
      overflows.length &&
      replace(
        element,
        h(
          "section",
          { class: "panel" },
          h("h2", null, t("dump.overflow.title")),
          h("ul", { class: "dump-links" }, overflows.map(item)),
        ),
      ),
    (error) => replace(element, failure(app, error)),
  );
  return { element, end: asking.end };
}
