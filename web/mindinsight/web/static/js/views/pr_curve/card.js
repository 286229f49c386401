// Card of one tag: the PR or ROC curves of all runs at one step, and the areas under them by step.

import { chartCard, plotArea } from "../../components/chart_card.js";
import { claimElement } from "../../core/claims.js";
import { h, replace, throttle } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { areaFigure, curveFigure } from "./figures.js";

/** @typedef {import("../../core/types.js").Numbers} Numbers */
/** @typedef {import("../../core/types.js").App} App */
/**
 * Curve of a run in the answer of v2/pr_curve/at.
 * @typedef {Object} Curve
 * @property {string} run
 * @property {number} step
 * @property {string | null} problem
 * @property {number | null} average_precision
 * @property {number | null} roc_area
 * @property {import("../../core/claims.js").Claim | null} no_roc
 * @property {Numbers} true_positive_rate
 * @property {Numbers} false_positive_rate
 * @property {number} drawn
 * @property {Numbers} threshold
 * @property {Numbers} precision
 * @property {Numbers} recall
 * @property {Numbers} true_positives
 * @property {Numbers} false_positives
 * @property {Numbers} true_negatives
 * @property {Numbers} false_negatives
 */
/** @typedef {{run: string, step: Numbers, value: Numbers, roc: Numbers}} Area */
/** @typedef {{roc: boolean, shownStep: () => number, takeSteps: (steps: ArrayLike<number>) => void}} Page */
/**
 * @typedef {Object} Card
 * @property {HTMLElement} element
 * @property {string[]} runs
 * @property {() => void} load
 * @property {() => void} readCurves
 * @property {() => void} paint
 * @property {() => void} end
 */

const GAP = 1000; // ms between two requests while a run grows

/**
 * Create the card of a tag: the curves of all runs at one step, and the areas under them by step.
 * @param {App} app
 * @param {import("../../core/tags.js").Tag} of
 * @param {Page} page
 * @returns {Card}
 */
export function prCurveCard(app, { tag, runs }, page) {
  const plot = plotArea(tag);
  const small = plotArea(`${tag}, ${app.t("pr_curve.area")}`);
  small.classList.add("pr-area");
  const foot = h("div", { class: "stack small" });
  const selected = runs.filter((run) => app.selection.has(run));
  /** @type {Curve[]} */
  let curves = [];
  /** @type {Area[]} */
  let areas = [];
  const heading = h("p", { class: "small muted" });
  const paint = () => {
    app.charts.draw(plot, () => curveFigure(app, curves, page.roc));
    app.charts.draw(small, () => areaFigure(app, areas, page.shownStep(), page.roc));
    heading.textContent = app.t(page.roc ? "pr_curve.roc_area" : "pr_curve.area");
    replace(
      foot,
      curves.map((curve) => factsOf(app, curve, page.roc)),
    );
  };
  const readCurves = () => {
    const query = { tag, run: selected, step: page.shownStep() };
    return curveRequests.ask(
      (signal) => app.api.columns("v2/pr_curve/at", query, { signal }),
      (answer) => {
        curves = answer.runs;
        paint();
      },
      leaveAsIs,
    );
  };
  const load = throttle(() => {
    const areaOf = (/** @type {string} */ run, /** @type {AbortSignal} */ signal) =>
      app.api.columns("v2/pr_curve/area", { run, tag }, { signal });
    box.requests.ask(
      (signal) => Promise.all(selected.map((run) => areaOf(run, signal))),
      (answers) => {
        areas = answers;
        areas.forEach(({ step }) => page.takeSteps(step));
        readCurves();
      },
      leaveAsIs,
    );
  }, GAP);
  const body = h("div", { class: "stack" }, plot, heading, small);
  const box = chartCard(app, { title: tag, plots: [plot, small], body, foot, load });
  const curveRequests = latest(box.element);
  const end = () => {
    curveRequests.end();
    box.end();
  };
  return { ...box, runs: selected, readCurves, paint, end };
}

/** Create the legend entry of a curve. @param {App} app @param {Curve} curve @param {boolean} roc */
function factsOf(
  app,
  { run, step, problem, average_precision: average, roc_area: area, no_roc: noRoc },
  roc,
) {
  const { t, format, selection } = app;
  const name = selection.run(run)?.name ?? run;
  if (problem) return h("p", { class: "badge bad" }, t("pr_curve.unreadable", { run: name }));
  return h(
    "div",
    { class: "row" },
    h("i", { class: "swatch", "data-run": run, style: { background: selection.colour(run) } }),
    h("span", { class: "ellipsis grow" }, name),
    h("span", null, t("pr_curve.at", { step: format.step(step) })),
    roc && noRoc
      ? claimElement(app, noRoc)
      : h(
          "span",
          { class: "number" },
          t(roc ? "pr_curve.auc" : "pr_curve.average", { value: format.number(roc ? area : average) }),
        ),
  );
}
