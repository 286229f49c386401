// Panel of a tuning study above the lineage: progress, results, importance, next trials.

import { select } from "../../../components/field.js";
import { toast } from "../../../components/toast.js";
import { h, replace } from "../../../core/dom.js";
import { keepFocus } from "../../../core/focus.js";
import { latest, leaveAsIs } from "../../../core/latest.js";
import { bestChart, frontChart } from "./charts.js";
import { header } from "./header.js";
import { importancePanel, suggestionsPanel } from "./insight.js";
import { trialsTable } from "./trials.js";

/** @typedef {import("../../../core/types.js").Failure} Failure */
/** @typedef {import("../../../core/types.js").App} App */
/** @typedef {import("./types.js").Study} Study */
/** @typedef {import("./types.js").StudyEntry} StudyEntry */

const FOLLOW = 2000; // ms between two looks at a study that is tuned
const LOOK = 15000; // ms between two looks at whether there are others
const LEARN = 10000; // ms between two evaluations of importance while trials end

/** Panel of the chosen tuning study. */
export class StudyPanel {
  /** @param {App} app @param {() => void} onchange called when trials came or ended */
  constructor(app, onchange) {
    this.app = app;
    this.onchange = onchange;
    /** @type {StudyEntry[]} */
    this.studies = [];
    /** @type {Study | null} */
    this.study = null;
    this.missing = "";
    this.loaded = false; // whether it is known if there are studies
    /**
     * @type {{method: string, missing: string | null, importance: Record<string, number>, trials: number,
     *   claims: import("../../../core/claims.js").Claim[]} | null}
     */
    this.importance = null;
    /** @type {Record<string, unknown>[] | null} */
    this.suggestions = null;
    this.method = app.url.get("importance", "forest");
    this.over = app.url.get("over", "trial");
    /** Whether the axis is logarithmic; null while nobody chose. @type {boolean | null} */
    this.log = null;
    this.target = 0;
    this.pair = [0, 1];
    this.sort = { key: "number", down: true };
    this.learnt = { key: "", at: 0, suggested: false };
    this.element = h("section", {
      class: "stack study",
      "aria-label": app.t("tuning.title"),
      "data-about": "[]", // no run has the colour of a chart here
      hidden: true,
    });
    this.head = h("div", { class: "panel" });
    this.chart = h("div", { class: "panel" });
    this.weights = h("div", { class: "panel" });
    this.next = h("div", { class: "panel" });
    this.table = h("div", { class: "panel" });
    this.lists = latest();
    this.facts = latest();
    this.insight = latest();
  }

  /** Drop requests in flight and remove the chart. */
  end() {
    for (const requests of [this.lists, this.facts, this.insight]) requests.end();
    this.app.charts.removeAll(this.element);
  }

  /** Request the list of studies now and every 15 s, and show the chosen one. */
  async load() {
    const { app } = this;
    await this.lists.ask(
      (signal) => app.api.get("v2/tuning/studies", {}, { signal }),
      (answer) => {
        this.studies = answer.studies;
        this.missing = answer.missing ?? "";
        this.lists.later(() => this.load(), LOOK);
        return this.choose(app.url.get("study", ""));
      },
      () => this.lists.later(() => this.load(), LOOK),
    );
    if (this.loaded) return;
    this.loaded = true;
    this.onchange();
  }

  /** Show a study, or the newest one if the id is unknown. @param {string} id */
  choose(id) {
    const entry = this.studies.find((study) => study.id === id) ?? this.studies[0];
    if (!entry) {
      this.study = null;
      this.draw();
      return undefined;
    }
    if (this.study?.id !== entry.id) {
      this.study = null;
      this.importance = this.suggestions = null;
      this.learnt = { key: "", at: 0, suggested: false };
      this.target = 0;
      this.log = null;
    }
    return this.follow(entry.id);
  }

  /** Request the study, and again every 2 s while it may be running. @param {string} id */
  follow(id) {
    const { app, facts } = this;
    return facts.ask(
      (signal) => app.api.get("v2/tuning/study", { study: id }, { signal }),
      (study) => {
        const before = this.study ? withoutTime(this.study) : "";
        this.study = study;
        if (study.tuned !== false) facts.later(() => this.follow(id), document.hidden ? LOOK : FOLLOW);
        if (withoutTime(study) === before) {
          this.drawHead();
          return;
        }
        this.draw();
        this.learn();
        this.onchange();
      },
      leaveAsIs,
    );
  }

  /** Request importance and suggestions if trials have ended. While the study runs, at most every 10 s. */
  learn() {
    const { study } = this;
    if (!study) return;
    const key = [study.id, study.progress.complete, this.target, this.method].join();
    const wait = this.learnt.at + LEARN - Date.now();
    if (key === this.learnt.key) return;
    if (this.importance && study.tuned && wait > 0 && this.learnt.key) {
      this.insight.later(() => this.learn(), wait);
      return;
    }
    this.learnt = { key, at: Date.now(), suggested: this.learnt.suggested };
    const { api } = this.app;
    const params = { study: study.id, target: this.target, method: this.method };
    this.insight.ask(
      (signal) => api.get("v2/tuning/importance", params, { signal }),
      (answer) => {
        this.importance = answer;
        this.drawWeights();
      },
      leaveAsIs,
    );
    this.insight.join(
      (signal) => api.get("v2/tuning/suggestions", { study: study.id }, { signal }),
      (answer) => {
        this.suggestions = answer.suggestions;
        this.learnt.suggested = true;
        this.drawNext();
      },
      leaveAsIs,
    );
  }

  /** Stop the study. */
  async stop() {
    const { app, study } = this;
    try {
      await app.api.send("POST", "v2/tuning/stop", { study: study?.id });
      if (study) await this.follow(study.id);
    } catch (error) {
      const { key, vars } = /** @type {Failure} */ (error);
      toast(app.t(key ?? "error.http", vars), { bad: true });
    }
  }

  /** Return the runs of pruned trials. Their results are incomplete. */
  pruned() {
    const trials = this.study?.trials ?? [];
    return new Set(trials.filter((trial) => trial.state === "pruned").map((trial) => trial.run));
  }

  /** Redraw everything. */
  draw() {
    const { app, study, element } = this;
    element.hidden = !study && !this.missing;
    element.dataset.study = study ? `${app.t("tuning.title")} ${study.name}` : ""; // names a saved page
    if (!study) {
      app.charts.removeAll(element);
      replace(element, this.missing ? h("p", { class: "panel muted" }, app.t("tuning.missing")) : null);
      return;
    }
    if (!element.contains(this.head)) {
      const insight = h("div", { class: "stack" }, this.weights, this.next);
      const row = h("div", { class: "lineage-row study-row" }, this.chart, insight);
      replace(element, this.head, row, this.table);
    }
    keepFocus(element, () => {
      replace(this.head, header(this));
      this.drawChart();
      this.drawWeights();
      this.drawNext();
      const scrolled = this.table.querySelector(".study-trials")?.scrollTop ?? 0;
      replace(this.table, trialsTable(this));
      const list = this.table.querySelector(".study-trials");
      if (list) list.scrollTop = scrolled;
    });
  }

  /** Redraw the header, unless the user is choosing a study. */
  drawHead() {
    if (this.head.querySelector("select:focus")) return;
    keepFocus(this.head, () => replace(this.head, header(this)));
  }

  /** Redraw the chart. */
  drawChart() {
    const { app, study, chart } = this;
    if (!study) return;
    const draw = study.targets.length > 1 ? frontChart : bestChart;
    app.charts.removeAll(chart);
    const { element, start } = draw(this);
    replace(chart, element);
    start();
  }

  /** Redraw the importance. */
  drawWeights() {
    if (!this.study) return; // another one has been chosen
    keepFocus(this.weights, () => replace(this.weights, importancePanel(this)));
  }

  /** Redraw the suggestions. */
  drawNext() {
    keepFocus(this.next, () => replace(this.next, suggestionsPanel(this)));
    const elsewhere = this.suggestions === null && this.learnt.suggested;
    this.next.hidden = elsewhere || (!this.study?.progress.done && !this.suggestions?.length);
  }

  /** Create the choice of a study. */
  chooser() {
    const { app, studies, study } = this;
    return select({
      label: app.t("tuning.study"),
      options: studies.map(({ id, name }) => ({ value: id, label: name })),
      value: study?.id ?? "",
      onchange: (id) => {
        app.url.set({ study: id });
        this.choose(id);
      },
    });
  }
}

/** Return a study as text without its times, for comparison. @param {Study} study */
function withoutTime(study) {
  return JSON.stringify({ ...study, updated: null, progress: { ...study.progress, left: null } });
}
