// Chart card of some tags of the selected runs. It requests data for its own width, follows the training, and
// requests finer data when zoomed.

import { card } from "../../components/card.js";
import { lookAlikeMark } from "../../components/look_alike.js";
import { draggable, dropTarget } from "../../components/movable.js";
import { aborted } from "../../core/api.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/lazy_work.js";
import { applySpan, sizeCorner, spanOf } from "../../components/card_size.js";
import { toolsOf } from "./card_tools.js";
import { figure, Still } from "./figure.js";
import { linesOf } from "./curve.js";
import { highlighted } from "./highlight.js";
import { createLegend, footOf } from "./chart_footer.js";
import { appended } from "./append_points.js";
import { chartControls } from "./controls.js";
import { chartTitle, tagText } from "./options.js";
import { CARD, dropChart } from "./sections.js";
import { requestSeries } from "./series_request.js";
import { rangeTable } from "./range.js";
import { parseThreshold } from "./threshold.js";
import { valuesAt } from "./values.js";
import { zoomed } from "./zoom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./curve.js").Curve} Curve */

/**
 * What a card needs of the page.
 * @typedef {Object} Page
 * @property {App} app
 * @property {"scalar" | "system"} kind
 * @property {() => Options} options
 * @property {(change: Partial<Options>) => void} change writes options and redraws what is concerned
 * @property {() => void} back to the zoom before the last
 * @property {() => boolean} canGoBack
 * @property {(filter: string) => void} find show the tags that a pattern finds
 * @property {ReturnType<typeof import("./cursor.js").createCursor>} cursor
 * @property {ReturnType<typeof import("./alert_marks.js").alertMarks>} alerts
 * @property {ReturnType<typeof import("./series_request.js").seriesRequests>} series asks for curves
 * @property {ReturnType<typeof import("./series_request.js").tailRequests>} tails asks for new points
 * @property {string[]} tags all tags there are
 * @property {(tag: string) => string[]} runsOf the selected runs that hold a tag
 * @property {(tags: string[]) => string[]} passing those that the filter lets through
 * @property {() => number} columns of cards
 * @property {() => string[]} shown tags that the filter lets through
 * @property {() => HTMLElement} displayButton of the panel of settings
 */

/**
 * Create the chart card of some tags of the selected runs.
 * @param {Page} page
 * @param {string[]} tags more than one share the chart
 */
export function curveCard(page, tags) {
  return new CurveCard(page, tags);
}

/** Card of one chart. */
class CurveCard {
  /** @param {Page} page @param {string[]} tags */
  constructor(page, tags) {
    this.page = page;
    this.tags = tags;
    /** What the card is called in the address. */
    this.key = tags.join("|");
    /** @type {Map<string, Curve[]>} tag -> curves */
    this.curves = new Map();
    /** @type {import("./curve.js").Scales | null} */
    this.scales = null;
    /** The x axis that the curves were fetched for; until others come they are drawn over it. */
    this.axis = page.options().x;
    /** Columns that the card takes; 0 before it was in the page. */
    this.columns = 0;
    /** Whether all is to be fetched, and not only what is new. */
    this.stale = true;
    /** Whether it is to be drawn when it is in the page again. */
    this.unpainted = false;
    this.still = new Still();
    /** Runs with new points that were not asked for. @type {Set<string>} */
    this.grown = new Set();
    /** Runs whose new points were asked for and have not come. @type {Set<string>} */
    this.awaited = new Set();
    this.plot = h("div", { class: "chart", role: "img", "aria-label": tags.map(tagText).join(", ") });
    this.legend = createLegend(page);
    this.foot = h("div", { class: "row small wrap" });
    this.range = h("div", { class: "scalar-range" });
    this.values = h("div", { class: "scalar-range" });
    /** How the list of values is sorted. @type {import("./values.js").Order} */
    this.order = { by: "value", down: true };
    this.tools = toolsOf(page, tags, this.plot);
    this.element = card({
      title: chartTitle(page.app.t, tags),
      mark: lookAlikeMark(page.app, chartTitle(page.app.t, tags)),
      tools: this.tools.elements,
      body: h(
        "div",
        { class: "scalar-body" },
        h("div", { class: "scalar-plot" }, this.plot),
        this.legend.element,
        this.values,
        this.range,
      ),
      foot: this.foot,
      full: {
        label: page.app.t("common.fullscreen"),
        close: page.app.t("common.close"),
        controls: () => chartControls(page),
        onchange: () => this.showRange(),
      },
    });
    this.element.classList.add("curve-card", "arranged");
    this.loaded = 0; // unix time in seconds of the newest answer
    this.offState = page.app.live.onState(() => this.showFoot());
    this.element.append(sizeCorner(page, this.key, () => this.element));
    draggable(/** @type {HTMLElement} */ (this.element.querySelector("header")), CARD, this.key);
    dropTarget(this.element, CARD, (dragged) => dragged === this.key || dropChart(page, dragged, this.key));
    this.requests = latest(); // also while a filter leaves the card out
    this.rangeRequests = latest(this.element);
    this.visibility = whenNear(this.element, () => this.look());
    queueMicrotask(() =>
      page.cursor.join(this.plot, {
        lines: () => this.lines(),
        options: () => this.options(),
        scales: () => this.scales,
        marks: () => this.marks(),
        at: (x) => this.legend.at(x),
        pick: (at) => page.change({ at }),
      }),
    );
  }

  /** Request the curves again, because runs, axis or zoom have changed. */
  load() {
    this.stale = true;
    this.visibility.ask();
  }

  /** Apply the arrangement. @param {string} start what all titles of the section begin with */
  arrange(start) {
    const span = spanOf(this.page, this.key);
    this.element.shorten(start);
    this.tools.draw();
    applySpan(this.element, span);
    if (this.columns && this.columns !== span.columns) this.load(); // points for another width
    this.columns = span.columns;
  }

  /** Draw the card after it was added to the page. */
  enter() {
    if (this.unpainted) this.paint();
    if (this.stale) this.visibility.ask();
  }

  /** Note runs with new points. @param {string[]} runs */
  update(runs) {
    const { selection } = this.page.app;
    const affected = [...this.curves.values()].some((curves) =>
      curves.some((curve) => runs.includes(curve.run)),
    );
    if (!affected && !selection.runs().some((run) => runs.includes(run.id))) return;
    runs.forEach((run) => this.grown.add(run));
    this.visibility.ask();
  }

  /** Request what is missing while the card is near the window. */
  look() {
    if (!this.stale) this.follow();
    else if (this.fetching !== this.question()) this.fetch();
  }

  /** Return the page's options with the x axis of the loaded curves. */
  options() {
    return { ...this.page.options(), x: this.axis };
  }

  /** Return a text of everything that the answer depends on. */
  question() {
    const { app, options } = this.page;
    const { x, zoom, smooth, smoothKind, smoothAll, logX, overwritten } = options();
    const runs = app.selection.runs().map((run) => run.id);
    const view = [x, zoom, smooth, smoothKind, smoothAll, logX, overwritten];
    return JSON.stringify([runs, [...app.selection.folded()], view]);
  }

  /** Request all curves. @returns {Promise<void>} */
  fetch() {
    const { page, tags, plot } = this;
    const runs = page.app.selection.runs().map((run) => run.id);
    const axis = page.options().x;
    /** The question that is on its way. @type {string} */
    this.fetching = this.question();
    this.grown = new Set(); // what comes from now on is asked for when the answer is there
    this.awaited = new Set();
    return this.requests.ask(
      (signal) => Promise.all(tags.map((tag) => requestSeries(page, tag, runs, plot.clientWidth, signal))),
      (answers) => {
        this.axis = axis;
        this.curves = new Map(answers.map((answer) => [answer.tag, answer.series]));
        this.loaded = Date.now() / 1000;
        this.fetched();
        this.paint();
      },
      (error) => {
        this.fetching = "";
        this.stale = true;
        if (!aborted(error)) {
          const why = error.key ? page.app.t(error.key, error.vars) : String(error);
          replace(this.foot, h("span", { class: "badge bad" }, page.app.t("scalar.failed", { why })));
        }
      },
    );
  }

  /** Note that all curves are there, and request points that came meanwhile. */
  fetched() {
    this.fetching = "";
    this.stale = false;
    if (this.grown.size) this.follow();
  }

  /** Request new points and append them. */
  follow() {
    const grown = new Set([...this.awaited, ...this.grown]);
    if (this.stale || !grown.size) return; // all of it is on its way, or here
    this.awaited = grown;
    this.grown = new Set();
    this.requests.ask(
      (signal) => appended(this.page, this.curves, this.plot.clientWidth, grown, signal),
      (fresh) => {
        if (!fresh) return this.fetch();
        grown.forEach((run) => this.still.growing.add(run));
        this.awaited = new Set();
        this.curves = fresh;
        this.loaded = Date.now() / 1000;
        return this.paint();
      },
      leaveAsIs,
    );
  }

  /** Draw the loaded curves. */
  paint() {
    this.unpainted = !this.element.isConnected; // until it enters
    if (!this.curves.size || this.unpainted) return; // nothing has come yet
    if (this.axis !== this.page.options().x) return; // others are on their way
    const { app } = this.page;
    const makeFigure = () => {
      const options = this.options();
      const threshold = parseThreshold(options.thresholds.get(this.tags[0]));
      const chart = figure(
        app,
        this.lines(),
        options,
        threshold,
        options.tall.get(this.key),
        this.marks(),
        this.still,
      );
      this.scales = chart.scales;
      return chart;
    };
    const drawn = () => this.page.cursor.drawn(this.plot);
    const ready = (/** @type {import("../../core/types.js").Plot} */ element) => {
      element.on("plotly_relayout", (change) => this.onZoom(change));
      element.on("plotly_afterplot", drawn);
      drawn();
    };
    app.charts.draw(this.plot, makeFigure, ready, drawn);
    /** Return the curves with their labels and colours. */
    const lines = this.lines();
    this.legend.show(lines);
    this.showFoot(lines);
    this.showValues(lines);
    this.showRange();
  }

  /** Show the number of points and what is beside the chart. @param {import("./curve.js").Line[]} lines */
  showFoot(lines = this.lines()) {
    if (this.curves.size) replace(this.foot, footOf(this.page, lines, this.key, this.loaded));
  }

  /** Show the values of all curves at the clicked position. @param {import("./curve.js").Line[]} lines */
  showValues(lines = this.lines()) {
    const onsort = (/** @type {import("./values.js").Order} */ order) => {
      this.order = order;
      this.showValues();
    };
    renew(this.values, valuesAt(this.page, this.tags, lines, this.order, onsort));
  }

  /** Apply a zoom made in Plotly. @param {Record<string, unknown>} change as Plotly tells it */
  onZoom(change) {
    const layout = /** @type {Partial<import("../../core/types.js").Plot>} */ (this.plot)._fullLayout;
    if (!this.scales || !layout) return;
    const next = zoomed(change, layout, this.scales, this.axis === "wall");
    const tall = new Map(this.page.options().tall);
    if (next.tall === null) tall.delete(this.key);
    else if (next.tall) tall.set(this.key, next.tall);
    if (next.zoom !== undefined) this.page.change({ zoom: next.zoom, tall });
    else if (next.tall !== undefined) this.page.change({ tall });
  }

  /** Return the marks of alerts. */
  marks() {
    return this.page.alerts.of(this.tags, this.lines(), this.axis);
  }

  /** @returns {import("./curve.js").Line[]} */
  lines() {
    const { app } = this.page;
    const lines = linesOf(app, this.tags, this.curves);
    return this.tags.length > 1 ? lines : highlighted(app, this.tags[0], lines);
  }

  /** Show statistics of the visible range if they are switched on or the card fills the window. */
  showRange() {
    const visible = this.page.options().facts || this.element.classList.contains("full");
    if (!visible) {
      this.rangeRequests.end();
      replace(this.range);
      return;
    }
    this.rangeRequests.ask(
      (signal) => rangeTable(this.page, this.tags, signal),
      (table) => replace(this.range, table),
      leaveAsIs,
    );
  }

  /** Remove the card. */
  end() {
    this.offState();
    this.requests.end();
    this.rangeRequests.end();
    this.visibility.end();
    this.page.cursor.leave(this.plot);
    this.page.app.charts.remove(this.plot);
  }
}
