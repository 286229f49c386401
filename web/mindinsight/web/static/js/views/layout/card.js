// Chart of a layout: lines of several scalars, or a line within a margin.

import { chartCard, plotArea } from "../../components/chart_card.js";
import { h, replace, throttle } from "../../core/dom.js";
import { leaveAsIs } from "../../core/latest.js";
import { colourOf, layoutFigure } from "./figure.js";

/** @typedef {import("../../core/types.js").Numbers} Numbers */
/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Chart
 * @property {string} title
 * @property {string[]} tags regular expressions
 * @property {[string, string, string][]} margins tags of value, lower and upper end
 * @property {{tag: string, runs: string[]}[]} lines
 * @property {number} more lines that are left out
 * @property {string[]} rejected
 */
/** @typedef {{tag: string, run: string, step: Numbers, value: Numbers}} Line */
/**
 * @typedef {Object} Card
 * @property {HTMLElement} element
 * @property {string[]} runs
 * @property {() => void} load
 * @property {() => void} paint
 * @property {() => void} end
 */

const GAP = 1000; // ms between two requests while a run grows

/** Create the card of a chart. @param {App} app @param {Chart} chart @returns {Card} */
export function layoutCard(app, chart) {
  const plot = plotArea(chart.title);
  const foot = h("div", { class: "row wrap small" });
  /** @type {Line[]} */
  let lines = [];
  const paint = () => {
    app.charts.draw(plot, () => layoutFigure(app, chart, lines));
    replace(foot, legend(app, chart, lines), problems(app, chart));
  };
  const load = throttle(() => {
    const px = Math.max(200, Math.min(1500, plot.clientWidth || 400));
    const linesOf = async (
      /** @type {{tag: string, runs: string[]}} */ { tag, runs },
      /** @type {AbortSignal} */ signal,
    ) => {
      const { series } = await app.api.columns("v2/scalar/series", { tag, run: runs, px }, { signal });
      return series.map((/** @type {Omit<Line, "tag">} */ { run, step, value }) => ({
        tag,
        run,
        step,
        value,
      }));
    };
    box.requests.ask(
      (signal) => Promise.all(chart.lines.map((line) => linesOf(line, signal))),
      (answers) => {
        lines = answers.flat();
        paint();
      },
      leaveAsIs,
    );
  }, GAP);
  const box = chartCard(app, { title: chart.title, plots: [plot], foot, load });
  const runs = [...new Set(chart.lines.flatMap((line) => line.runs))];
  return { ...box, runs, paint };
}

/** Create the legend of the lines. @param {App} app @param {Chart} chart @param {Line[]} lines */
function legend(app, chart, lines) {
  const values = chart.margins.length ? chart.margins.map(([value]) => value) : null;
  const several = new Set(lines.map(({ run }) => run)).size > 1;
  return lines
    .filter(({ tag }) => !values || values.includes(tag))
    .map((line) =>
      h(
        "span",
        { class: "row" },
        h("i", { class: "swatch", style: { background: colourOf(app, chart, lines, line) } }),
        several ? `${line.tag} · ${app.selection.run(line.run)?.name ?? line.run}` : line.tag,
      ),
    );
}

/**
 * Create the messages about missing scalars and invalid expressions.
 * @param {App} app
 * @param {Chart} chart
 */
function problems({ t }, { tags, margins, lines, more, rejected }) {
  const wanted = [...tags, ...margins.flat()].join(", ");
  return [
    !lines.length && h("p", { class: "muted" }, t("layout.no_scalar", { tags: wanted })),
    rejected.map((tag) => h("p", { class: "badge bad" }, t("layout.expression", { tag }))),
    more > 0 && h("p", { class: "muted" }, t("layout.more", { n: more })),
  ];
}
