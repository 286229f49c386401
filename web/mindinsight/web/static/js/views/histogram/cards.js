// Cards of the histogram page: a tag of one run over time, or a tag of all runs at one step.

import { chartCard, plotArea } from "../../components/chart_card.js";
import { runName } from "../../components/run_name.js";
import { h, replace, throttle } from "../../core/dom.js";
import { leaveAsIs } from "../../core/latest.js";
import { overlayFigure, ridgeFigure, stepFigure } from "./outlines.js";
import { heatFigure, percentileFigure } from "../../components/histogram/over_time.js";
import { firstNonFinite, nonFiniteBadge } from "../../components/histogram/non_finite.js";
import { ownScale, SharedScales } from "../../components/histogram/shared_scale.js";
import { noteOf } from "../../components/histogram/series.js";
import { newestStep, scaleControls } from "./toolbar.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/tags.js").Tag} Tag */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("../../components/histogram/series.js").Series} Series */
/** @typedef {import("../../components/histogram/shared_scale.js").Scale} Scale */
/**
 * @typedef {Object} Card
 * @property {HTMLElement} element
 * @property {string[]} runs whose histograms it shows
 * @property {() => void} load fetch the data, then draw
 * @property {() => void} paint draw the data there is
 * @property {() => void} end
 */

/** @typedef {import("../../core/charts.js").Figure} Figure */

/** @type {Record<string, (app: App, series: Series, axis: string, scale: Scale | null) => Figure>} */
const FIGURES = {
  heat: heatFigure,
  percentile: percentileFigure,
  ridge: ridgeFigure,
  overlay: overlayFigure,
};
const OUTLINES = 40; // most steps drawn as outlines
const COLUMNS = [60, 500]; // fewest and most steps of the other figures
const GAP = 1000; // ms between two requests while a run grows

/**
 * Create a card for each tag and run over time, or for each tag with all runs at one step, as `options` says.
 * @param {App} app
 * @param {Tag[]} tags
 * @param {() => Options} options
 * @param {(some: Partial<Options>) => void} change of the page's options
 * @returns {Card[]}
 */
export function cardsOf(app, tags, options, change) {
  if (options().mode === "beside") return tags.map((tag) => stepCard(app, tag, options));
  const scales = new SharedScales();
  return tags.flatMap(({ tag, runs }) =>
    runs
      .filter((run) => app.selection.has(run))
      .map((run) => seriesCard(app, { tag, run, options, scales, change })),
  );
}

/**
 * Create the card of one run over time.
 * @param {App} app
 * @param {{tag: string, run: string, options: () => Options, scales: SharedScales, change: (some:
 *   Partial<Options>) => void}} card
 * @returns {Card}
 */
function seriesCard(app, { tag, run, options, scales, change }) {
  /** @type {Series | null} */
  let series = null;
  const plot = plotArea(`${tag}, ${run}`);
  const foot = h("div", { class: "row small wrap" });
  const paint = () => {
    if (!series) return;
    const { mode, axis } = options();
    const current = series;
    const figure = () => FIGURES[mode](app, current, axis, shared());
    if (FIGURES[mode]) app.charts.draw(plot, figure);
    replace(foot, seriesFacts(app, run, current, mode));
  };
  const shared = () => {
    const { scale } = options();
    return scale === "own" ? null : scales.of(scale === "tag" ? tag : "");
  };
  const load = throttle(() => {
    const outlines = ["ridge", "overlay"].includes(options().mode);
    const [fewest, most] = COLUMNS;
    const columns = outlines ? OUTLINES : Math.max(fewest, Math.min(most, plot.clientWidth));
    const params = { run, tag, columns, each: outlines || null };
    box.requests.ask(
      (signal) => app.api.columns("v2/histogram/series", params, { signal }),
      (response) => {
        series = response;
        const scale = ownScale(response);
        scales.tell(tag, plot, scale, paint);
        scales.tell("", plot, scale, paint);
        paint();
      },
      leaveAsIs,
    );
  }, GAP);
  const controls = () => scaleControls(app, options(), change);
  const box = chartCard(app, { title: tag, plots: [plot], foot, load, controls });
  return { ...box, paint, runs: [run] };
}

/**
 * Create the footer: run, number of steps, non-finite values.
 * @param {App} app
 * @param {string} run
 * @param {Series} series
 * @param {string} mode
 */
function seriesFacts(app, run, series, mode) {
  const note = noteOf(series, mode);
  const first = firstNonFinite(series.step, (kind, at) =>
    Number(/** @type {Record<string, ArrayLike<number>>} */ (/** @type {unknown} */ (series))[kind][at]),
  );
  return [
    runLabel(app, run),
    h("span", { class: "grow" }, app.t("histogram.steps", { shown: series.shown, n: series.count })),
    note && h("span", { class: "muted" }, app.t(`histogram.${note}`)),
    nonFiniteBadge(app, series.non_finite, first),
  ];
}

/**
 * Create the card of several runs at one step.
 * @param {App} app
 * @param {Tag} tag
 * @param {() => Options} options
 * @returns {Card}
 */
function stepCard(app, { tag, runs }, options) {
  /** @type {import("./outlines.js").RunHistogram[]} */
  let histograms = [];
  const plot = plotArea(tag);
  const foot = h("div", { class: "row small wrap" });
  const paint = () => {
    app.charts.draw(plot, () => stepFigure(app, histograms));
    replace(
      foot,
      histograms.map((histogram) => stepFacts(app, histogram)),
    );
  };
  const load = () => {
    const step = Math.round(options().step || newestStep(app));
    const run = runs.filter((id) => app.selection.has(id));
    box.requests.ask(
      (signal) => app.api.columns("v2/histogram/at", { tag, run, step }, { signal }),
      (response) => {
        histograms = response.runs;
        paint();
      },
      leaveAsIs,
    );
  };
  const box = chartCard(app, { title: tag, plots: [plot], foot, load });
  return { ...box, paint, runs };
}

/**
 * Create the legend entry of one run.
 * @param {App} app
 * @param {import("./outlines.js").RunHistogram} histogram
 */
function stepFacts(app, histogram) {
  return h(
    "span",
    { class: "row" },
    runLabel(app, histogram.run),
    app.t("histogram.at", { step: app.format.step(histogram.step) }),
    nonFiniteBadge(app, histogram),
  );
}

/** Create colour and name of a run. @param {App} app @param {string} run */
function runLabel(app, run) {
  return h(
    "span",
    { class: "row ellipsis" },
    h("i", { class: "swatch", "data-run": run, style: { background: app.selection.colour(run) } }),
    runName(app, run),
  );
}
