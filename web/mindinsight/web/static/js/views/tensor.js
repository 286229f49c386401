// Tensors page: any slice of any step as table or heat map, and the distribution over the steps.

import { empty } from "../components/empty.js";
import { emptyState } from "../components/nothing.js";
import { grownRuns } from "../core/changes.js";
import { h, replace, throttle } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { idsOf } from "../core/run_list.js";
import { tagsOfEntries } from "../core/tags.js";
import { heatFigure } from "../components/histogram/over_time.js";
import { firstNonFinite, nonFiniteBadge, summed } from "../components/histogram/non_finite.js";
import { toolbar } from "./tensor/controls.js";
import { pager } from "./tensor/slice.js";
import { readState, writeState } from "./tensor/state.js";
import { colourRange } from "../core/ramp.js";
import { rangeText } from "../components/range_text.js";
import { sliceHeat } from "../components/slice_heat.js";
import { factsTable, sliceTable } from "../components/slice_table.js";

/** @typedef {import("../core/answers.js").Distribution} Distribution */
/** @typedef {import("../core/answers.js").TensorSlice} TensorSlice */
/** @typedef {import("../core/answers.js").TensorSteps} TensorSteps */
/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./tensor/state.js").State} State */

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Tensors(root, app);
  await view.start();
  return {
    update(change) {
      if (grownRuns(app, change, "tensor").length) view.refresh();
    },
    unmount: () => view.end(),
  };
}

/** Page of one tensor by step: its values or their distribution. */
export class Tensors {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.state = readState(app.url);
    /** @type {import("../core/tags.js").Tag[]} */
    this.tags = [];
    /** @type {TensorSteps | null} */
    this.steps = null;
    /**
     * The tensor that the steps belong to: while those of another are on their way, they name no row of it.
     */
    this.stepsOf = "";
    this.askedOf = ""; // runs of which the tags were asked for
    /** @type {ReturnType<typeof toolbar> | null} */
    this.controls = null;
    this.head = h("div", null);
    this.body = h("div", { class: "tensor-body" });
    replace(root, this.head, this.body);
    this.requests = latest(root);
    this.drawing = latest(root);
    this.refresh = throttle(() => this.follow(), 1000);
    this.offs = [
      app.selection.on((reason) =>
        reason === "runs" || this.askedOf !== this.runs() || this.lost() ? this.follow() : undefined,
      ),
      app.theme.on(() => this.state.mode !== "table" && this.draw()),
      app.url.on(() => this.reread()),
    ];
  }

  /** Show what the address names after it changed. */
  reread() {
    this.state = readState(this.app.url);
    this.stepsOf = "";
    return this.start(leaveAsIs);
  }

  /** Return the selected runs with tensors as text, for comparison. */
  runs() {
    return idsOf(this.app.selection.runs().filter((run) => run.kinds.tensor));
  }

  /** Return whether the shown run has been removed. */
  lost() {
    return this.steps !== null && !this.app.selection.run(this.state.run);
  }

  /** Return the chosen run and tag as text, for comparison. */
  chosen() {
    return JSON.stringify([this.state.run, this.state.tag]);
  }

  /** Return the runs that have the chosen tag. */
  holders() {
    return this.tags.find((tag) => tag.tag === this.state.tag)?.runs ?? [];
  }

  /** Return the row of the shown step; the newest if none was chosen. */
  row() {
    const { at } = this.state;
    const steps = this.steps?.step ?? new Float64Array();
    const last = steps.length - 1;
    const row = at === null ? -1 : steps.lastIndexOf(at);
    return row < 0 ? last : row;
  }

  /**
   * Request the tensors and the steps of the chosen one, then draw.
   * @param {(error: Failure) => unknown} [failed]
   * @returns {Promise<unknown>}
   */
  start(failed) {
    this.askedOf = this.runs();
    return this.requests.ask(
      (signal) => this.fetch(signal),
      (answer) => {
        const before = this.steps && { stepsOf: this.stepsOf, row: this.row() };
        this.take(answer);
        const changed = !this.steps || before?.stepsOf !== this.stepsOf;
        if (changed || !this.head.contains(document.activeElement)) this.drawHead();
        else this.controls?.tell();
        if (this.steps) writeState(this.app.url, this.state);
        if (changed || before?.row !== this.row()) return this.draw();
      },
      failed,
    );
  }

  /** Refresh after new steps or tensors, or when other runs were chosen. A chosen step stays. */
  follow() {
    return this.start(leaveAsIs);
  }

  /** Request the tags and the steps of the chosen tensor. @param {AbortSignal} signal */
  async fetch(signal) {
    const { api } = this.app;
    const tags = await tagsOfEntries(this.app, "tensor", signal);
    const entry = tags.find((tag) => tag.tag === this.state.tag) ?? tags[0];
    if (!entry) return { tags, run: "", tag: "", steps: null };
    const run = entry.runs.includes(this.state.run) ? this.state.run : entry.runs[0];
    return {
      tags,
      run,
      tag: entry.tag,
      steps: await api.columns("v2/tensor/steps", { run, tag: entry.tag }, { signal }),
    };
  }

  /**
   * Store an answer. Options of another tensor are reset.
   * @param {{tags: import("../core/tags.js").Tag[], run: string, tag: string, steps: TensorSteps | null}}
   *   found
   */
  take({ tags, run, tag, steps }) {
    const { state } = this;
    Object.assign(this, { tags, steps });
    if (this.stepsOf && (run !== state.run || tag !== state.tag)) {
      Object.assign(state, { dims: "", at: null, top: 0, left: 0 });
    }
    if (steps) Object.assign(state, { run, tag });
    state.dims ||= steps?.first ?? "";
    this.stepsOf = this.chosen();
  }

  /** Show another tensor. @param {Partial<State>} changes */
  choose(changes) {
    Object.assign(this.state, changes, { dims: "", at: null, top: 0, left: 0 });
    if (!this.holders().includes(this.state.run)) this.state.run = this.holders()[0];
    return this.start((error) => this.failed(error));
  }

  /** Change how the tensor is shown. @param {Partial<State>} changes */
  change(changes) {
    if (this.stepsOf !== this.chosen()) return;
    Object.assign(this.state, changes);
    writeState(this.app.url, this.state);
    if ("mode" in changes) this.drawHead();
    else this.controls?.tell();
    this.draw();
  }

  /** Draw the toolbar. */
  drawHead() {
    this.controls = this.steps ? toolbar(this) : null;
    replace(this.head, this.controls?.elements);
  }

  /** Request and draw the slice or distribution. */
  draw() {
    const { app, state, steps } = this;
    if (!steps) {
      this.drawing.end();
      app.charts.removeAll(this.body);
      replace(this.body, this.nothing());
      return;
    }
    const params = { run: state.run, tag: state.tag };
    const spread = state.mode === "distribution";
    const slice = { ...params, row: this.row(), dims: state.dims, top: state.top, left: state.left };
    return this.drawing.ask(
      (signal) =>
        /** @type {Promise<Distribution | TensorSlice>} */ (
          spread
            ? app.api.columns("v2/tensor/distribution", params, { signal })
            : app.api.columns("v2/tensor/slice", slice, { signal })
        ),
      (answer) => ("facts" in answer ? this.drawDistribution(answer) : this.drawSlice(answer)),
      (error) => this.failed(error),
    );
  }

  /** Show an error. @param {Failure} error */
  failed(error) {
    this.app.charts.removeAll(this.body);
    replace(this.body, empty({ icon: "warning", title: this.app.t(error.key ?? "error.view", error.vars) }));
  }

  /** Create the empty state. */
  nothing() {
    return emptyState(this.app, { kind: "tensor", code: 'record.add_value("tensor", "weight", weight)' });
  }

  /** Draw a slice. @param {TensorSlice} slice */
  drawSlice(slice) {
    if (!slice.window.every(Boolean) && (slice.top || slice.left)) {
      this.change({ top: 0, left: 0 }); // the link was made for a larger tensor
      return;
    }
    const { app, state, body } = this;
    const facts = h("div", { class: "tensor-facts" }, factsTable(app, slice));
    const move = (/** @type {"top" | "left"} */ side, /** @type {number} */ by) =>
      this.change({ [side]: Math.max(0, state[side] + by) });
    app.charts.removeAll(body);
    if (state.mode === "heat") {
      const plot = h("div", {
        class: "chart tensor-heat",
        role: "img",
        "aria-label": `${state.tag} ${slice.dims}`,
      });
      const range = rangeText(app, colourRange(slice.values));
      replace(body, h("div", { class: "panel grow" }, plot, range, pager(app, slice, move)), facts);
      const numbers = (/** @type {number} */ first, /** @type {number} */ count) =>
        Array.from({ length: count }, (_, i) => first + i);
      const [rows, columns] = slice.window;
      const axes = { x: numbers(slice.left, columns), y: numbers(slice.top, rows) };
      app.charts.draw(plot, () => sliceHeat(app, { ...slice, ...axes }));
      return;
    }
    const { element } = sliceTable(app, slice, state);
    replace(body, h("div", { class: "panel grow" }, element, pager(app, slice, move)), facts);
  }

  /** Draw the distribution over the steps. @param {Distribution} answer */
  drawDistribution(answer) {
    const { app, state, body } = this;
    const plot = h("div", { class: "chart tensor-heat", role: "img", "aria-label": state.tag });
    app.charts.removeAll(body);
    const nothing = !answer.counts.some(Boolean);
    const since = firstNonFinite(answer.step, (kind, at) => answer.facts[at][kind]);
    const summary = h(
      "p",
      { class: "small muted grow" },
      app.t("tensor.distribution", { shown: answer.step.length, n: answer.count }),
    );
    replace(
      body,
      h(
        "div",
        { class: "panel grow" },
        nothing ? empty({ title: app.t("histogram.empty") }) : plot,
        h("div", { class: "row wrap small" }, summary, nonFiniteBadge(app, summed(answer.facts), since)),
      ),
    );
    if (nothing) return;
    /** @type {unknown} */
    const series = { ...answer, shown: answer.step.length };
    app.charts.draw(plot, () =>
      heatFigure(app, /** @type {import("../components/histogram/series.js").Series} */ (series), "step"),
    );
  }

  /** Leave the page. */
  end() {
    this.refresh.cancel();
    this.requests.end();
    this.drawing.end();
    this.offs.forEach((off) => off());
  }
}
