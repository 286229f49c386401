// Lineage page: settings and results of runs. Brushes on the axes filter the table too.

import { toast } from "../components/toast.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { keepFocus } from "../core/focus.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { drawAxes, isBrushed } from "./lineage/axes.js";
import { isDragged } from "./lineage/axis_drag.js";
import { readBrushes, writeBrushes } from "./lineage/brushes.js";
import { axesShown, logAxes, moved, objectiveAmong, SCALAR, topFactor } from "./lineage/columns.js";
import { toolbar } from "./lineage/controls.js";
import { forksPanel } from "./lineage/forks.js";
import { ImportancePanel } from "./lineage/importance.js";
import { isAbout, labelled, runsAmong, studyOf, targetKeys } from "./lineage/of_study.js";
import { runsTable } from "./lineage/tables.js";
import { scatter } from "./lineage/scatter.js";
import { nothing } from "./lineage/nothing.js";
import { readState, writeState } from "./lineage/state.js";
import { StudyPanel } from "./lineage/study/panel.js";
import { tint } from "../components/objective_colour.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./lineage/axes.js").Column} Column */
/** @typedef {import("./lineage/axes.js").Row} Row */
/**
 * @typedef {Object} Data
 * @property {Column[]} columns
 * @property {Row[]} rows
 * @property {string | null} [objective]
 * @property {string[]} [scalars] tags that most of the runs have
 * @property {import("./lineage/forks.js").Fork[]} [forks]
 */
/** @typedef {import("./lineage/state.js").State} State */

const HEIGHT = 300;
const MANY = 12; // runs beyond which a colour for each says less than the objective's
const MOST = 1000; // runs that one request may name

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Lineage(root, app);
  await view.load();
  view.study.load();
  return {
    update(change) {
      if (grownRuns(app, change, "lineage").length) view.load(leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Page of the lineage: parallel axes, importance, scatter plot and table of runs. */
export class Lineage {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.state = readState(app.url);
    /** The objective that somebody chose; "" without one. */
    this.wanted = this.state.objective;
    this.brushes = readBrushes(app.url.all("brush"));
    /** Runs whose settings are to be compared. @type {Set<string>} */
    this.selectedRuns = new Set(app.url.all("pick"));
    this.inside = /** @type {Row[]} */ ([]); // every range
    /** @type {Data} */
    this.data = { columns: [], rows: [] };
    this.head = h("div", null);
    this.picture = h("div", { class: "panel scroll axes-panel" });
    this.table = h("div", { class: "panel scroll" });
    /** The last importance, by which the scatter plot chooses its columns. */
    this.ranked = { objective: "", columns: /** @type {{key: string}[]} */ ([]) };
    this.matters = new ImportancePanel(app, () => this.drawCloud());
    this.folded = true; // the table of runs, if the study above lists the same trials
    this.cloud = h("div", null);
    this.forks = h("div", null);
    this.body = h(
      "div",
      { class: "stack" },
      this.picture,
      h("div", { class: "lineage-row" }, this.matters.element, this.cloud),
      this.forks,
      this.table,
    );
    this.study = new StudyPanel(app, () => this.studied());
    this.requests = latest(root);
    this.shownState = this.runs().join();
    this.offs = [
      app.selection.on(() => this.chosen()),
      app.theme.on(() => this.draw()),
      app.url.on(() => this.reread()),
    ];
  }

  /** Show what the address names after it changed. */
  reread() {
    this.state = readState(this.app.url);
    this.wanted = this.state.objective;
    this.brushes = readBrushes(this.app.url.all("brush"));
    this.selectedRuns = new Set(this.app.url.all("pick"));
    this.shownState = this.runs().join();
    return this.load(leaveAsIs);
  }

  /** Show what the study says. Its target becomes the objective, unless somebody chose another one. */
  studied() {
    const { data, state } = this;
    this.chosen(); // the trials, if the user chose no runs
    const study = this.ownStudy();
    data.columns = labelled(this.app.t, data.columns, study);
    const objective = this.wanted || objectiveAmong(data, ...targetKeys(study));
    if (objective && objective !== state.objective) return this.load(leaveAsIs);
    return this.draw();
  }

  /** Return the study that most of the runs belong to, or null. */
  ownStudy() {
    return studyOf(this.study.study, this.data.rows);
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.matters.end();
    this.study.end();
    this.offs.forEach((off) => off());
  }

  /** Return the ids of the runs that the page is about. */
  runs() {
    return runsAmong(this.app.selection, this.study?.study, this.state.all);
  }

  /** Show all runs, or only the trials of the study. @param {boolean} all */
  setAll(all) {
    Object.assign(this.state, { all });
    this.chosen();
  }

  /** Load again if other runs were chosen. */
  chosen() {
    const state = this.runs().join();
    if (this.shownState !== state) this.load(leaveAsIs);
    this.shownState = state;
  }

  /** Request the table and draw it. @param {(error: Failure) => unknown} [failed] */
  load(failed) {
    const run = this.runs().slice(0, MOST);
    return this.requests.ask(
      (signal) => this.fetch(run, signal),
      (data) => {
        this.data = data;
        replace(this.forks, forksPanel(this.app, data.forks ?? []));
        this.state.objective = data.objective ?? "";
        this.draw();
      },
      failed,
    );
  }

  /**
   * Request the table for the chosen objective, if these runs have it.
   * @param {string[]} run
   * @param {AbortSignal} signal
   * @returns {Promise<Data>}
   */
  async fetch(run, signal) {
    if (!run.length) return { columns: [], rows: [] };
    const { api, t } = this.app;
    const plain = await api.get("v2/lineage/table", { run }, { signal });
    const study = studyOf(this.study.study, plain.rows);
    const objective = objectiveAmong(plain, ...(this.wanted ? [this.wanted] : targetKeys(study)));
    const answer = objective?.startsWith(SCALAR)
      ? await api.get("v2/lineage/table", { run, objective }, { signal })
      : plain;
    const { axes } = this.state;
    const columns = answer.columns.filter(
      ({ key, repeated }) => !repeated || axes.includes(key) || key === objective,
    );
    return { ...answer, columns: labelled(t, columns, study), objective };
  }

  /** Choose another objective. @param {string} objective */
  aim(objective) {
    this.wanted = this.state.objective = objective;
    this.keep();
    return this.load((error) => {
      toast(this.app.t(error.key ?? "error.http", error.vars), { bad: true });
      this.wanted = this.state.objective = this.data.objective ?? "";
      this.draw();
    });
  }

  /** Write the state to the address. */
  keep() {
    writeState(this.app.url, this.state);
    this.app.url.set({ pick: [...this.selectedRuns], brush: writeBrushes(this.brushes) });
  }

  /** Return the columns shown as axes. */
  axes() {
    return axesShown(this.data, this.state);
  }

  /** Return whether lines are coloured by the objective. */
  tinted() {
    const { state } = this;
    return Boolean(state.objective) && (state.tint === null ? this.tintedByItself() : state.tint === "1");
  }

  /** Return whether lines are coloured by the objective when the user has not chosen. */
  tintedByItself() {
    return this.data.rows.length > MANY && !this.app.selection.colouring.by();
  }

  /** Choose whether lines are coloured by the objective. @param {boolean} on */
  setTint(on) {
    this.state.tint = on === this.tintedByItself() ? null : on ? "1" : "0";
    this.draw();
  }

  /** Tick or clear a run for comparison. @param {string} run @param {boolean} on */
  setPicked(run, on) {
    if (on) this.selectedRuns.add(run);
    else this.selectedRuns.delete(run);
    this.keep();
    this.drawHead();
  }

  /** Move an axis by some places to the right. @param {string} key @param {number} by */
  move(key, by) {
    this.state.axes = moved(
      this.axes().map((column) => column.key),
      key,
      by,
    );
    this.draw();
  }

  /** Return what the axes draw. @returns {import("./lineage/axes.js").Plot} */
  plot() {
    const { app, data, state } = this;
    const pruned = this.study.pruned();
    const grey = app.theme.colour("--line-strong");
    const tinted = this.tinted() ? tint(app, data.rows, state.objective) : null;
    return {
      columns: this.axes(),
      rows: data.rows,
      logs: logAxes(data, state.logs),
      brushes: this.brushes,
      colour: (row) => (pruned.has(row.run) ? grey : tinted ? tinted(row) : app.selection.colour(row.run)),
      onhover: (run) => this.highlight(run),
      onpick: (run) => this.pick(run),
      onbrush: () => this.draw(),
      onmove: (key, by) => this.move(key, by),
    };
  }

  /** Highlight a run in all parts, or none for null. @param {string | null} run */
  highlight(run) {
    for (const element of this.root.querySelectorAll("[data-run]")) {
      element.classList.toggle("lit", run !== null && element.getAttribute("data-run") === run);
    }
    this.picture.classList.toggle("focus", run !== null);
  }

  /** Open a run's overview. @param {string} run */
  pick(run) {
    this.app.router.go(this.app.url.link("overview", { run }));
  }

  /** Redraw all parts, unless the user is dragging. */
  draw() {
    const { app, root, data } = this;
    if (isDragged(this.picture)) return;
    this.keep();
    app.charts.removeAll(this.cloud);
    if (!data.rows.length) {
      replace(root, this.study.element, nothing(this));
      return;
    }
    keepFocus(root, () => this.drawParts());
  }

  /** Draw all parts. */
  drawParts() {
    const { app, root, data, head, body } = this;
    const study = this.study.element;
    replace(root, isAbout(app, this.ownStudy()) ? [study, head, body] : [head, body, study]);
    this.drawHead();
    const plot = this.plot();
    const rows = (this.inside = data.rows.filter((row) => isBrushed(plot, row)));
    replace(this.picture, drawAxes(app, plot, Math.max(320, this.picture.clientWidth - 32), HEIGHT));
    this.drawImportance();
    this.drawCloud();
    replace(this.table, runsTable(this, rows));
  }

  /** Draw the importance without pruned trials, whose results are those of earlier steps. */
  drawImportance() {
    const { app, data, inside, matters, study } = this;
    const pruned = study.pruned();
    const labels = new Map(data.columns.map(({ key, label }) => [key, label]));
    const rows = inside.filter(({ run }) => !pruned.has(run));
    const without = inside.length - rows.length;
    matters.element.hidden = targetKeys(this.ownStudy()).includes(this.state.objective); // it is above
    const note = without ? app.t("lineage.without_pruned", { n: without }) : "";
    matters.show(rows, this.state.objective, this.brushes.size > 0, { labels, note });
  }

  /** Draw the toolbar. */
  drawHead() {
    replace(this.head, toolbar(this));
  }

  /** Draw the scatter plot. */
  drawCloud() {
    const { app, data, state, inside } = this;
    app.charts.removeAll(this.cloud);
    const { objective } = state;
    if (this.matters.answer) this.ranked = { objective, columns: this.matters.answer.columns };
    const isRanked = this.ranked.objective === objective;
    if (this.matters.pending() && !isRanked && (state.matrix || !state.x)) {
      replace(this.cloud); // its columns are those that matter: others would be replaced at once
      return;
    }
    const change = (/** @type {Partial<State>} */ some) => (Object.assign(state, some), this.draw());
    const importance = isRanked ? this.ranked.columns : [];
    const dots = scatter(app, {
      columns: data.columns,
      rows: () => inside,
      objective,
      x: state.x || topFactor({ ...data, importance }, objective),
      y: state.y,
      pruned: this.study.pruned(),
      onpick: (run) => this.pick(run),
      onchange: (x, y) => change({ x, y }),
      importance,
      logs: logAxes(data, state.logs),
      matrix: state.matrix,
      onmatrix: (matrix) => change({ matrix }),
    });
    replace(this.cloud, dots.element);
    dots.draw();
  }
}
