// Card with the differences between runs and a baseline for one tag.

import { chartCard, plotArea } from "../../components/chart_card.js";
import { h, replace } from "../../core/dom.js";
import { leaveAsIs } from "../../core/latest.js";
import { linesOf } from "./curve.js";
import { highlighted } from "./highlight.js";
import { differenceFigure } from "./difference_figure.js";
import { requestSeries } from "./series_request.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../core/answers.js").ComparedScalars} Compared */
/** @typedef {import("../../core/answers.js").ComparedSeries} Series */

/** Card of one tag that compares runs with a baseline. */
export class DifferenceCard {
  /**
   * @param {Page} page
   * @param {string} tag of the baseline
   * @param {string} partner tag of the other runs
   * @param {string} baseline
   * @param {Run[]} runs
   */
  constructor(page, tag, partner, baseline, runs) {
    const { app } = page;
    this.page = page;
    this.tag = tag;
    this.other = partner;
    this.name = tag === partner ? tag : `${tag} ↔ ${partner}`;
    this.baseline = baseline;
    this.others = runs;
    /** What is drawn. @type {Compared | null} */
    this.response = null;
    /** The curves above the differences. @type {import("./curve.js").Curve[]} */
    this.curves = [];
    /** Whether the verdict is that of the newest request. */
    this.judged = false;
    /** What is known of each run. @type {Map<string, Series>} */
    this.series = new Map();
    /** What is called with it once it is known. @type {((series: Map<string, Series>) => void)[]} */
    this.onverdict = [];
    this.plot = plotArea(app.t("scalar.compare.chart", { tag: this.name }));
    this.foot = h("div", { class: "row small muted wrap" });
    this.box = chartCard(app, {
      title: this.name,
      plots: [this.plot],
      foot: this.foot,
      load: () => this.fetch(),
    });
    this.element = this.box.element;
  }

  /** Request the differences once the card is near the window. */
  load() {
    this.judged = false;
    this.box.load();
  }

  /** Request and draw curves and differences. */
  fetch() {
    const width = this.plot.clientWidth;
    this.box.requests.ask(
      (signal) => Promise.all([this.request(width, signal), this.requestCurves(width, signal)]),
      ([response, curves]) => {
        this.response = response;
        this.curves = curves;
        this.showVerdict(response);
        this.paint();
      },
      leaveAsIs,
    );
  }

  /**
   * Request the curves of the baseline and of the runs, none as the median of a job.
   * @param {number} width px
   * @param {AbortSignal} signal
   */
  async requestCurves(width, signal) {
    const runs = this.others.map((run) => run.id);
    const request = (/** @type {string} */ tag, /** @type {string[]} */ ids) =>
      requestSeries(this.page, tag, ids, width, signal, []);
    const answers =
      this.tag === this.other
        ? [await request(this.tag, [this.baseline, ...runs])]
        : await Promise.all([request(this.tag, [this.baseline]), request(this.other, runs)]);
    return answers.flatMap((answer) => answer.series);
  }

  /** Request only the verdict. @param {AbortSignal} signal */
  async judge(signal) {
    const response = await this.request(1, signal);
    if (!signal.aborted && !this.judged) this.showVerdict(response);
  }

  /** Request the comparison for a width. @param {number} width px @param {AbortSignal} signal */
  request(width, signal) {
    const { app, options } = this.page;
    const params = {
      tag: this.tag,
      other: this.other === this.tag ? null : this.other,
      run: [this.baseline, ...this.others.map((run) => run.id)],
      baseline: this.baseline,
      tolerance: options().tolerance,
      px: Math.min(width || 400, 2000),
    };
    return app.api.columns("v2/scalar/compare", params, { signal });
  }

  /** Tell the tables the verdict. A tag that no run has is hidden. @param {Compared} response */
  showVerdict(response) {
    this.judged = true;
    this.series = new Map(response.series.map((row) => [row.run, row]));
    for (const show of this.onverdict) show(this.series);
    this.element.hidden = !this.series.size;
  }

  /** Draw curves and differences. */
  paint() {
    const { curves, response } = this;
    const { app, options } = this.page;
    if (!response) return;
    const lines = linesOf(app, [this.tag], new Map([[this.tag, curves]]));
    const named = highlighted(app, this.tag, lines).filter(({ role }) => role);
    const drawn = new Map(named.map(({ curve, colour }) => [curve.run, colour]));
    const some = (/** @type {string} */ run) => !named.length || drawn.has(run);
    const shown = lines.filter(({ curve }) => some(curve.run) || curve.run === this.baseline);
    replace(
      this.foot,
      named.length > 0 && app.t("scalar.compare.some", { n: shown.length, all: lines.length }),
    );
    const series = response.series.filter(({ run }) => some(run));
    app.charts.draw(this.plot, () =>
      differenceFigure(
        app,
        { ...response, series },
        shown.map((line) => ({ ...line, colour: drawn.get(line.curve.run) ?? line.colour })),
        options(),
      ),
    );
  }

  /** Remove the card. */
  end() {
    this.box.end();
  }
}
