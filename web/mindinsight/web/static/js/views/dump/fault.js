// The first fault over steps and ranks or of one step, and what the device reported of this step.

import { button } from "../../components/button.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "./failure.js";
import { faultChain } from "./fault_chain.js";
import { sourceLine } from "./operator_facts.js";
import { infinities, slotText } from "./rows.js";

/** @typedef {import("../dump.js").Page} Page */

/** @param {Page} page @param {any} tensor @param {any} position rank and step */
export function opening(page, tensor, position) {
  return () =>
    page.change({
      ...position,
      graph: tensor.graph,
      operator: tensor.recorded,
      tensor: `${tensor.direction}/${tensor.slot}`,
    });
}

/** @param {Page} page */
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
        t("dump.fault.only", { rank: state.rank, step: state.step }),
        button(t("dump.fault.everywhere"), () => page.change({ only: false })),
      )
    : null;
  const show = (/** @type {any[]} */ ...content) =>
    replace(element, h("h2", null, t("dump.fault.title")), scope, content);

  show(h("p", { class: "booting", role: "status" }, t("dump.fault.searching")));
  search.ask(
    () =>
      app.api.get("v2/dump/fault", {
        dump: state.dump,
        ...(state.only ? { rank: state.rank, step: state.step } : {}),
      }),
    (answer) =>
      show(
        answer.faults.length
          ? answer.faults.map((/** @type {any} */ fault) => {
              const chain = faultChain(page, fault);
              chains.push(chain);
              return [verdict(page, fault), chain.element];
            })
          : [allClear(app, answer), answer.divergence && divergence(page, answer.divergence)],
      ),
    (error) => show(failure(app, error)),
  );
  return {
    element,
    end() {
      search.end();
      chains.forEach((chain) => chain.end());
    },
  };
}

/**
 * What is known where no fault was found: a check mark only where every tensor was judged.
 *
 * @param {Page["app"]} app @param {any} answer
 */
function allClear(app, { sentences, coverage, damage }) {
  const complete = coverage.judged > 0 && coverage.judged === coverage.tensors && !damage.length;
  const texts = sentences.map((/** @type {any} */ { key, words }) => app.t(key, words));
  if (damage.length) texts.push(app.t("dump.fault.unlisted", { n: damage.length }));
  return h(
    "p",
    { class: complete ? "" : "dump-unjudged" },
    icon(complete ? "check" : "warning"),
    " ",
    texts.join(" "),
  );
}

/** @param {Page["app"]} app @param {any} statistics statistics */
function countsText(app, statistics) {
  const infs = infinities(statistics);
  if (statistics.nans === null || infs === null) return app.t("dump.lost_not_counted");
  return app.t("dump.fault.counts", { nans: statistics.nans, infs, count: statistics.count ?? "?" });
}

/**
 * The fault as a headline, the values where they explain it, and what else is known of it.
 *
 * @param {Page["app"]} app @param {any} fault
 */
function story({ t }, fault) {
  const judgement = t(fault.key, fault.words);
  const sentences = (fault.explanation?.sentences ?? []).map((/** @type {any} */ { key, words }) =>
    t(key, words),
  );
  const [headline, ...rest] = sentences.length
    ? [sentences[0], judgement, ...sentences.slice(1)]
    : [judgement];
  return [h("p", { class: "dump-verdict" }, headline), rest.map((sentence) => h("p", null, sentence))];
}

/** @param {Page} page @param {any} fault */
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

/** The operator at which ranks differ that should agree. @param {Page} page @param {any} found */
function divergence(page, found) {
  const { t } = page.app;
  const { tensor } = found;
  return h(
    "div",
    { class: "stack dump-fault" },
    h("p", null, h("span", { class: "badge bad" }, t("dump.ranks.title"))),
    h("p", { class: "dump-verdict" }, t(found.key, found.words)),
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
    sourceLine(page, found.operator?.source),
  );
}

/** @param {Page} page */
export function overflowSection(page) {
  const { app, state } = page;
  const { t } = app;
  const asking = latest();
  const element = h("div");
  const item = (/** @type {any} */ overflow) =>
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
