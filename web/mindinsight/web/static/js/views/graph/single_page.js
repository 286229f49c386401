// Page of one graph: choice of the graph, its drawing, and what happens when it is written again.

import { segments } from "../../components/button.js";
import { toast } from "../../components/toast.js";
import { grownRuns } from "../../core/changes.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { idsOf } from "../../core/run_list.js";
import { lookAgain, rewritten } from "./staleness.js";
import { chooser, firstRun } from "./chooser.js";
import { Explorer } from "./explorer.js";
import { noGraph } from "./messages.js";
import { unmarkedProfile } from "./pipeline_profile.js";
import { VIEWS } from "./single_state.js";
import { graphCounts } from "./layout.js";
import { drawingTools } from "./tools.js";

/** Page of one graph. @typedef {import("../../core/types.js").App} App */
export class OneGraph {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   * @param {() => HTMLElement} modes control for one graph or two
   */
  constructor(root, app, modes) {
    this.app = app;
    this.root = root;
    this.modes = modes;
    this.explorer = new Explorer(app, root);
    /** @type {import("./staleness.js").Graphs} */
    this.graphs = { tags: [], dataset: false, newest: {}, claims: [] };
    /** Which graphs the chosen run has, and whether there are more by now. */
    this.opening = latest(root);
    this.following = latest(root);
    /** @type {import("../../core/types.js").Run[]} */
    this.runs = [];
    this.offSelection = app.selection.on(() => this.listed());
  }

  /** Show the graph that the address names, or that of the first suitable run. */
  async start() {
    this.runs = this.offered();
    const selected = this.state.run
      ? this.runs.find((run) => run.id === this.state.run)
      : firstRun(this.app, this.runs, this.state.view);
    if (!selected) return this.nothing();
    this.state.run = selected.id;
    this.root.dataset.object = selected.id; // names a saved page
    return this.open();
  }

  /** Load the list of the run's graphs, then the chosen one. */
  open() {
    this.leave();
    return this.opening.ask(
      (signal) => this.graphsOf(signal),
      (graphs) => {
        if (graphs.claims.length) return this.unrecorded(graphs.claims[0]);
        this.settle(graphs);
        return this.explorer.load(() => this.controls());
      },
      (error) => this.explorer.failed(error),
    );
  }

  /** Drop everything in flight for the shown graph. */
  leave() {
    this.following.end();
    this.explorer.leave();
  }

  /** Request the list of the run's graphs. @param {AbortSignal} signal */
  graphsOf(signal) {
    return this.app.api.get("v2/graph/graphs", { run: this.state.run }, { signal });
  }

  get state() {
    return this.explorer.state;
  }

  /** Show what the address names after it changed. */
  restart() {
    this.explorer.restart();
    return this.start();
  }

  /** Return the runs to choose from. */
  offered() {
    const { run: shown } = this.state;
    return this.app.selection.all().filter((run) => run.kinds.graph || run.pipeline || run.id === shown);
  }

  /** Offer other runs after the list has changed; start again without a graph, or if its run is gone. */
  listed() {
    if (!this.explorer.picture || !this.app.selection.run(this.state.run)) {
      this.start();
      return;
    }
    const runs = this.offered();
    if (idsOf(runs) === idsOf(this.runs)) return;
    this.runs = runs;
    renew(this.explorer.tools, this.controls());
  }

  /**
   * Show that the run has no graph, with the profile of its data pipeline if there is one.
   * @param {import("../../core/claims.js").Claim} claim about the run's graphs
   */
  unrecorded(claim) {
    const { run } = this.state;
    this.explorer.picture = null;
    return this.opening.ask(
      (signal) => this.app.api.get("v2/graph/pipeline", { run }, { signal }),
      (profile) =>
        replace(
          this.root,
          profile.file !== null && unmarkedProfile(this.app, profile),
          noGraph(this.app, run, claim),
        ),
      () => replace(this.root, noGraph(this.app, run, claim)),
    );
  }

  /** Show that there is no graph. */
  nothing() {
    this.leave();
    this.explorer.picture = null;
    delete this.root.dataset.object;
    replace(this.root, noGraph(this.app, this.state.run));
  }

  /**
   * Replace a graph or view that the run does not have by one it has.
   * @param {import("./staleness.js").Graphs} graphs
   */
  settle(graphs) {
    const { state } = this;
    this.graphs = graphs;
    if (!this.graphs.tags.includes(state.tag)) state.tag = this.graphs.tags[0] ?? "";
    if (!state.tag) state.view = "dataset";
    else if (state.view === "dataset" && !this.graphs.dataset) state.view = null;
  }

  /**
   * Show another graph or view, and select the same node in it.
   * @param {Partial<import("./single_state.js").State>} changes
   */
  change(changes) {
    const { explorer } = this;
    const box = explorer.canvas.boxes().find((candidate) => candidate.id === this.state.node);
    explorer.wanted = box ? { path: box.path } : explorer.describer.subject;
    return this.begin(changes.view ? { ...changes, chosen: true } : changes);
  }

  /** Show a graph in its initial state. @param {Partial<import("./single_state.js").State>} [changes] */
  begin(changes = {}) {
    Object.assign(this.state, { scopes: null, open: null, flat: [], node: null, outer: null, trace: null });
    Object.assign(this.state, changes);
    this.explorer.opened = false;
    return this.open();
  }

  /** Create the controls. */
  controls() {
    const { t } = this.app;
    const { state } = this;
    const views = VIEWS.filter((view) =>
      view === "dataset" ? this.graphs.dataset : this.graphs.tags.length,
    );
    const graph = [
      this.modes(),
      chooser(this.app, this.runs, state, this.graphs, (changes) => this.change(changes)),
      segments({
        label: t("graph.view"),
        value: state.view ?? "",
        options: views.map((value) => ({ value, label: t(`graph.view.${value}`) })),
        onchange: (view) => this.change({ view }),
      }),
      segments({
        label: t("graph.draw"),
        value: state.plotly ? "plotly" : "svg",
        options: ["svg", "plotly"].map((value) => ({ value, label: t(`graph.draw.${value}`) })),
        onchange: (value) => this.explorer.plot(value === "plotly"),
      }),
    ];
    const drawing = drawingTools(this.app, this.root, {
      drawings: () => [this.downloadable()],
      reset: () => this.begin(),
    });
    return [
      h("div", { class: "toolbar" }, graph),
      graphCounts(this.app, this.explorer), // outside toolbars, which a saved page leaves out
      h("div", { class: "toolbar" }, drawing),
    ];
  }

  /** Return what can be downloaded. @returns {import("./downloads.js").Drawing} what can be downloaded */
  downloadable() {
    const { state } = this;
    const { canvas } = this.explorer;
    const figure = () =>
      this.explorer.ask("v2/graph/figure", {
        open: state.scopes,
        flat: state.flat.join(",") || null,
        theme: document.documentElement.dataset.theme,
      });
    return { name: `${state.view === "dataset" ? "dataset" : state.tag}-${state.view}`, canvas, figure };
  }

  /**
   * Refresh after changes of dumps or graphs. If the shown graph was written again, offer to reload it.
   * @param {import("../../core/types.js").Change} change
   */
  changed(change) {
    const { run } = this.state;
    const { dumped, notes, picture, tools } = this.explorer;
    if (!picture) return;
    if (change.list || grownRuns(this.app, change, "dump").length) dumped.refresh();
    if (!grownRuns(this.app, change, "graph", "lineage").includes(run)) return;
    this.following.ask(
      (signal) => this.graphsOf(signal),
      (graphs) => {
        if (JSON.stringify(this.graphs) === JSON.stringify(graphs)) return;
        const { tag, view } = this.state;
        const stale = view !== "dataset" && rewritten(this.graphs, graphs, tag);
        this.settle(graphs);
        renew(tools, this.controls());
        if (stale) {
          renew(
            notes,
            lookAgain(this.app, () => this.begin()),
          );
        } else toast(this.app.t("graph.more"));
      },
      leaveAsIs,
    );
  }

  /** Leave the page. */
  end() {
    this.leave();
    this.opening.end();
    this.offSelection();
  }
}
