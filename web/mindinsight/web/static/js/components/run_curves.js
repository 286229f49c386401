// Picture of one scalar: the curves of groups of runs, and the step from which they differ.

import { calmRangeOf } from "../core/calm_range.js";
import { h } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";

/** @typedef {import("../core/types.js").App} App */
/**
 * Runs whose curves look the same. `tag` is the scalar's name in these runs.
 * @typedef {{name: string, tag: string, runs: string[], colour: string, dash?: string,
 *   quiet?: boolean}} Curves
 */
/** @typedef {{run: string, step: ArrayLike<number>, value: ArrayLike<number>}} Series */

const MOST = 40; // curves of a group
const PX = 600; // points of a curve

/** Chart of one scalar of groups of runs. */
export class RunCurves {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.requests = latest();
    this.title = h("h2", { class: "panel-title" });
    this.plot = h("div", { class: "chart", role: "img" });
    this.element = h("section", { class: "panel run-curves", hidden: true }, this.title, this.plot);
  }

  /**
   * Show the curves of groups, or nothing without any.
   * @param {string} title
   * @param {Curves[]} groups
   * @param {number | null} [step] from which they differ
   */
  show(title, groups, step = null) {
    this.element.hidden = !groups.length;
    if (!groups.length) return;
    this.title.textContent = title;
    this.plot.setAttribute("aria-label", title);
    this.requests.ask(
      (signal) =>
        Promise.all(
          groups.map(({ tag, runs }) =>
            this.app.api.columns("v2/scalar/series", { tag, run: runs.slice(0, MOST), px: PX }, { signal }),
          ),
        ),
      (answers) =>
        this.app.charts.draw(this.plot, () =>
          figure(
            this.app,
            groups,
            answers.map(({ series }) => series),
            step,
          ),
        ),
      leaveAsIs,
    );
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.app.charts.removeAll(this.element);
  }
}

/**
 * Return the figure. Only the first curve of a group is in the legend. A few values far from all others lie
 * outside.
 * @param {App} app
 * @param {Curves[]} groups
 * @param {Series[][]} series of each group
 * @param {number | null} step
 */
function figure(app, groups, series, step) {
  const { theme } = app;
  const data = groups.flatMap(({ name, colour, dash = "solid", quiet }, group) =>
    series[group].map(({ run, step: steps, value }, at) => ({
      type: "scatter",
      mode: value.length > 1 ? "lines" : "markers",
      x: steps,
      y: value,
      line: { width: quiet ? 1 : 1.4, color: colour, dash },
      opacity: quiet ? 0.5 : 0.9,
      name,
      legendgroup: name,
      showlegend: at === 0,
      text: app.selection.run(run)?.name ?? run,
      hovertemplate: "%{text}<br>%{x}: %{y}<extra></extra>",
    })),
  );
  const named = series.filter((_, group) => !groups[group].quiet).map((own) => own.map(({ value }) => value));
  const calm = calmRangeOf(series.flat().map(({ value }) => value));
  if (calm && named.length < groups.length) named.forEach((values) => hold(calm, values));
  return {
    data,
    layout: {
      ...theme.plotly(),
      margin: { l: 48, r: 12, t: 8, b: 32 },
      xaxis: theme.axis({}),
      yaxis: theme.axis(calm ? { range: calm } : {}),
      hovermode: "closest",
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      shapes: step === null ? [] : [onsetLine(step, theme.colour("--text"))],
      annotations: step === null ? [] : [onsetText(app, step)],
    },
  };
}

/**
 * Widen a range so that it holds curves that a chart names beside others, but for values far from their own.
 * @param {[number, number]} range
 * @param {ArrayLike<number>[]} curves
 */
function hold(range, curves) {
  const finite = curves.flatMap((values) => Array.from(values)).filter(Number.isFinite);
  const own = calmRangeOf(curves) ?? [finite.reduce(lower, Infinity), finite.reduce(higher, -Infinity)];
  range[0] = Math.min(range[0], own[0]);
  range[1] = Math.max(range[1], own[1]);
}

const lower = (/** @type {number} */ a, /** @type {number} */ b) => Math.min(a, b);
const higher = (/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b);

/** Return a vertical line at a step. @param {number} step @param {string} color */
function onsetLine(step, color) {
  const line = { color, width: 1, dash: "dash" };
  return { type: "line", xref: "x", yref: "paper", x0: step, x1: step, y0: 0, y1: 1, line };
}

/**
 * Return the text at the line of a step.
 * @param {App} app
 * @param {number} step
 * @returns {import("../core/types.js").PlotlyAnnotation}
 */
function onsetText({ t, format, theme }, step) {
  return {
    x: step,
    y: 1,
    xref: "x",
    yref: "paper",
    xanchor: "left",
    yanchor: "top",
    showarrow: false,
    bgcolor: theme.colour("--panel"),
    text: t("scalar.tip.step_of", { step: format.number(step, 12) }),
    font: { color: theme.colour("--text"), size: theme.plotly().font.size },
  };
}
