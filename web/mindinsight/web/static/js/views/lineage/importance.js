// Panel that says how much each setting matters for the objective.

import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { labelOf, SEED } from "./columns.js";

/** @typedef {import("../../core/types.js").App} App */

/**
 * @typedef {object} Weight
 * @property {string} key
 * @property {number} importance
 * @property {number} [low] lower end of the interval, of forests
 * @property {number} [high]
 * @property {number} [sign] 1, -1, or 0 where there is none
 */

/**
 * @typedef {object} Importance
 * @property {"forest" | "association"} method
 * @property {Weight[]} columns
 * @property {"few" | "missing"} [why] no forests
 * @property {number} [explained] share of the objective's variance
 * @property {number} [runs]
 */

/** Where no run inside the ranges has the objective. @type {Importance} */
const UNKNOWN = { method: "association", columns: [], why: "few" };

const BARS = 12;
const BRUSHED = 500; // ms without another range before forests are fitted to the runs inside
const POOR = 0.1; // share of the variance below which values say little

/** Importance among the runs inside all ranges: at once what is known, then what forests say. */
export class ImportancePanel {
  /** @param {App} app @param {() => void} onanswer other panels show what matters, too */
  constructor(app, onanswer) {
    this.app = app;
    this.onanswer = onanswer;
    this.element = h("div", { class: "panel" });
    this.requests = latest(this.element);
    this.question = "";
    /** @type {Importance | null} */
    this.answer = null;
  }

  /**
   * @param {import("./axes.js").Row[]} rows
   * @param {Weight[]} associations known at once
   * @param {string} objective
   * @param {boolean} brushed whether ranges may change soon
   */
  show(rows, associations, objective, brushed) {
    const draw = () => replace(this.element, contents(this.app, this.answer, associations, objective));
    const question = JSON.stringify([objective, rows]);
    if (this.question !== question) {
      const known = rows.some((row) => (row.values[objective] ?? null) !== null);
      this.question = question;
      this.answer = known ? null : UNKNOWN;
      this.requests.end();
      const query = { objective, run: rows.map((row) => row.run) };
      if (objective && known) this.requests.later(() => this.ask(query, draw), brushed ? BRUSHED : 0);
    }
    draw();
  }

  /** @param {{objective: string, run: string[]}} query @param {() => void} draw */
  ask(query, draw) {
    return this.requests.ask(
      (signal) => this.app.api.get("v2/lineage/importance", query, { signal }),
      (answer) => {
        this.answer = answer;
        draw();
        this.onanswer();
      },
      () => {}, // what is known at once stays
    );
  }

  end() {
    this.requests.end();
  }
}

/**
 * @param {App} app
 * @param {Importance | null} importance null while it is computed
 * @param {Weight[]} associations known at once
 * @param {string} objective
 */
function contents({ t }, importance, associations, objective) {
  if (!objective) {
    return [
      h("h2", { class: "panel-title" }, t("lineage.no_objective")),
      h("p", { class: "muted" }, t("lineage.no_objective_how")),
    ];
  }
  const shown = (importance?.columns ?? associations).filter(({ key }) => !SEED.test(key)).slice(0, BARS);
  const end = Math.max(1, ...shown.map(({ importance: weight, high }) => high ?? weight));
  const title = t("lineage.importance", { objective: labelOf(t, objective) });
  return [
    h("h2", { class: "panel-title" }, title),
    shown.length
      ? h(
          "table",
          { class: "importance" },
          h(
            "tbody",
            null,
            shown.map((weight) => bar(t, weight, end)),
          ),
        )
      : h("p", { class: "muted" }, t("lineage.too_few")),
    shown.length > 0 && h("p", { class: "muted", role: "status" }, methodText(t, importance)),
  ];
}

/** @param {App["t"]} t @param {Weight} weight @param {number} end value at the end of the bars' scale */
function bar(t, { key, importance, low, high, sign }, end) {
  const place = (/** @type {number} */ value) => `${(value / end) * 100}%`;
  const interval =
    low !== undefined &&
    high !== undefined &&
    h("b", { style: { left: place(low), width: place(high - low) }, "aria-hidden": "true" });
  const range = interval ? t("lineage.interval", { low: low.toFixed(2), high: high.toFixed(2) }) : null;
  return h(
    "tr",
    { title: range },
    h("th", { scope: "row" }, labelOf(t, key)),
    h("td", { class: "bar" }, h("i", { style: { width: place(importance) } }), interval),
    h("td", { class: "number" }, importance.toFixed(2)),
    h("td", { class: "sign" }, sign ? signMark(t, sign) : null),
  );
}

/** @param {App["t"]} t @param {number} sign */
function signMark(t, sign) {
  const text = t(sign > 0 ? "lineage.grows" : "lineage.falls");
  return h("span", { role: "img", "aria-label": text, title: text }, sign > 0 ? "↗" : "↘");
}

/**
 * How the values were made, and how far they are to be trusted.
 * @param {App["t"]} t
 * @param {Importance | null} importance
 */
export function methodText(t, importance) {
  if (!importance) return t("lineage.method.computing");
  if (importance.method === "association") return t(`lineage.method.association.${importance.why}`);
  const { explained = 0, runs = 0 } = importance;
  const text = t("lineage.method.forest", { n: runs, explained: `${Math.round(100 * explained)} %` });
  return explained < POOR ? `${text} ${t("lineage.method.poor")}` : text;
}
