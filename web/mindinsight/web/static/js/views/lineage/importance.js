// Panel with the importance of each setting for the objective.

import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { labelOf } from "./columns.js";

/** @typedef {import("../../core/types.js").App} App */

/**
 * @typedef {object} Weight
 * @property {string} key of the column
 * @property {number} importance
 * @property {number} low smallest value of the shuffles
 * @property {number} high
 * @property {number} sign 1, -1, or 0 where the relation is not monotone
 * @property {boolean} matters beyond chance
 * @property {number} carried runs that have the setting
 */

/**
 * @typedef {object} Importance
 * @property {Weight[]} columns
 * @property {number} explained share of the objective's variance
 * @property {number} runs
 * @property {import("../../core/claims.js").Claim[]} claims
 */

/** Claims on settings that are no part of the answer. */
const LEFT_OUT = new Set(
  ["fixed", "seeds", "rare", "labels", "results"].map((key) => `claim.lineage.${key}`),
);
const BARS = 12;
const BRUSHED = 500; // ms without another range before a forest is fitted to the runs inside

/**
 * Panel of the importance of settings among the runs inside all brushes. Nothing is shown until the answer is
 * complete.
 */
export class ImportancePanel {
  /** @param {App} app @param {() => void} onanswer other panels show what matters, too */
  constructor(app, onanswer) {
    this.app = app;
    this.onanswer = onanswer;
    this.element = h("div", { class: "panel importance-panel" });
    this.requests = latest(this.element);
    this.question = "";
    this.objective = "";
    /** @type {Importance | null} */
    this.answer = null;
    this.failure = "";
    this.words = { labels: /** @type {Map<string, string>} */ (new Map()), note: "" };
  }

  /**
   * Show the importance for these rows. It is requested again if rows or objective differ.
   * @param {import("./axes.js").Row[]} rows
   * @param {string} objective
   * @param {boolean} brushed whether ranges may change soon
   * @param {{labels: Map<string, string>, note: string}} words labels of columns, and what does not count
   */
  show(rows, objective, brushed, words) {
    this.words = words;
    const question = JSON.stringify([objective, rows]);
    this.objective = objective;
    if (this.question !== question) {
      this.question = question;
      this.answer = null;
      this.failure = "";
      this.requests.end();
      const query = { objective, run: rows.map((row) => row.run) };
      if (objective) this.requests.later(() => this.ask(query), brushed ? BRUSHED : 0);
    }
    this.draw();
  }

  /** Request the importance. @param {{objective: string, run: string[]}} query */
  ask(query) {
    const { t } = this.app;
    return this.requests.ask(
      (signal) => this.app.api.get("v2/lineage/importance", query, { signal }),
      (answer) => {
        this.answer = answer;
        this.draw();
        this.onanswer();
      },
      (error) => {
        this.failure = t(error.key ?? "error.http", error.vars);
        this.draw();
        this.onanswer();
      },
    );
  }

  /** Draw the answer, the error, or that it is being computed. */
  draw() {
    const { t } = this.app;
    const { answer, objective, failure, words } = this;
    const title = objective
      ? t("lineage.importance", { objective: words.labels.get(objective) ?? labelOf(t, objective) })
      : t("lineage.no_objective");
    const waiting = failure || t("lineage.computing");
    replace(
      this.element,
      h("h2", { class: "panel-title" }, title),
      !objective && h("p", { class: "muted" }, t("lineage.no_objective_how")),
      objective && !answer && h("p", { class: "muted", role: "status" }, waiting),
      this.pending() && h("progress", { "aria-label": waiting }),
      answer && contents(this.app, answer, words.labels),
      answer && words.note && h("p", { class: "muted small" }, words.note),
    );
    this.element.setAttribute("aria-busy", String(this.pending()));
  }

  /** Return whether an answer is being computed. */
  pending() {
    return Boolean(this.objective) && !this.answer && !this.failure;
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
  }
}

/**
 * Create the claims and bars.
 * @param {App} app
 * @param {Importance} answer
 * @param {Map<string, string>} labels of columns
 */
function contents(app, { columns, claims, explained, runs }, labels) {
  const { t } = app;
  const shown = columns.slice(0, BARS);
  const end = Math.max(1, ...shown.map(({ high }) => high));
  const bars = h(
    "tbody",
    null,
    shown.map((weight) => bar(t, weight, labels.get(weight.key) ?? labelOf(t, weight.key), end, runs)),
  );
  const how = t("lineage.method.forest", { explained: `${Math.round(100 * explained)} %`, n: runs });
  const sentences = (/** @type {boolean} */ leftOut) =>
    claims.filter(({ key }) => LEFT_OUT.has(key) === leftOut).map((claim) => claimElement(app, claim));
  const rest = sentences(true);
  return [
    h("div", { class: "answer-story importance-story", role: "status" }, sentences(false)),
    rest.length > 0 &&
      h(
        "details",
        { class: "muted small" },
        h("summary", null, t("lineage.left_out", { n: rest.length })),
        rest,
      ),
    shown.length > 0 && h("table", { class: "importance" }, bars),
    shown.length > 0 && h("p", { class: "muted small" }, how),
  ];
}

/**
 * Create the bar of a setting with its confidence interval.
 * @param {App["t"]} t
 * @param {Weight} weight
 * @param {string} label
 * @param {number} end value at the end of the bars' scale
 * @param {number} runs of the forest; a setting that others of them lack says how many have it
 */
function bar(t, { importance, low, high, sign, matters, carried }, label, end, runs) {
  const position = (/** @type {number} */ value) => `${(value / end) * 100}%`;
  const interval = h("b", {
    style: { left: position(low), width: position(high - low) },
    "aria-hidden": "true",
  });
  const range = t("lineage.interval", { low: low.toFixed(2), high: high.toFixed(2), n: carried });
  return h(
    "tr",
    { title: range, class: matters ? null : "muted" },
    h("th", { scope: "row" }, label, carried < runs && t("lineage.carried", { n: carried, runs })),
    h("td", { class: "bar" }, h("i", { style: { width: position(importance) } }), interval),
    h("td", { class: "number" }, importance.toFixed(2)),
    h("td", { class: "sign", "aria-hidden": "true" }, matters && sign ? (sign > 0 ? "↗" : "↘") : null),
  );
}
