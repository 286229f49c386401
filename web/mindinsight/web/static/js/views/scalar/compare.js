// Runs against a baseline: difference curves, the first step where they part, and the settings that differ.

import { card } from "../../components/card.js";
import { empty } from "../../components/empty.js";
import { h, replace } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { saveButton } from "../../core/share.js";

/** @typedef {import("./card.js").Page} Page */

/** The run that the others are measured against: the pinned one, or the first selected. @param {Page} page */
export function baselineOf(page) {
  const { selection } = page.app;
  return selection.baseline() ?? selection.runs()[0] ?? null;
}

/** @param {Page} page @param {string[]} tags */
export function compareView(page, tags) {
  const { app } = page;
  const base = baselineOf(page);
  const others = app.selection.runs().filter((run) => run.id !== base?.id);
  if (!base || !others.length) {
    return { element: empty({ title: app.t("scalar.compare.need"), text: app.t("scalar.compare.how") }), load() {}, update() {}, paint() {}, end() {} };
  }
  const verdicts = h("tbody", null);
  const head = ["scalar.compare.tag", "scalar.tip.run", "scalar.compare.parted", "scalar.compare.largest", "scalar.compare.shared"];
  const table = h("table", { class: "table" }, h("caption", null, app.t("scalar.compare.caption", { run: base.name, tolerance: number(page.options().tolerance) })),
    h("thead", null, h("tr", null, head.map((key, i) => h("th", { scope: "col", class: i > 2 ? "number" : null }, app.t(key))))), verdicts);
  const cards = tags.map((tag) => differenceCard(page, tag, base.id));
  const grid = h("div", { class: "cards" }, cards.map((one) => one.element));
  const element = h("div", { class: "stack" }, h("div", { class: "panel scroll scalar-verdicts", tabindex: "0", role: "region", "aria-label": app.t("scalar.mode.compare") }, table), settings(page, [base, ...others]), grid);

  const load = async () => {
    const answers = await Promise.all(cards.map((one) => one.load()));
    replace(verdicts, answers.flatMap((answer) => (answer ? rows(app, answer) : [])));
  };
  return { element, load, paint: () => cards.forEach((one) => one.paint()), update: load, end: () => cards.forEach((one) => app.charts.remove(one.plot)) };
}

/** @param {Page} page @param {string} tag @param {string} baseline */
function differenceCard(page, tag, baseline) {
  const { app } = page;
  let answer = /** @type {any} */ (null);
  const plot = h("div", { class: "chart", role: "img", "aria-label": app.t("scalar.compare.chart", { tag }) });
  const element = card({ title: tag, tools: [saveButton(app, () => element, tag)], body: plot, full: { label: app.t("common.fullscreen") } });
  const paint = () => answer && app.charts.draw(plot, () => difference(page, answer));
  return {
    element,
    plot,
    paint,
    async load() {
      const runs = app.selection.runs().map((run) => run.id);
      const params = { tag, run: runs, baseline, tolerance: page.options().tolerance, px: Math.max(300, plot.clientWidth) };
      answer = await app.api.columns("v2/scalar/compare", params).catch(() => null);
      paint();
      element.hidden = !answer?.series.length;
      return answer;
    },
  };
}

/** @param {Page} page @param {any} answer */
function difference(page, answer) {
  const { app } = page;
  const { theme } = app;
  const data = answer.series.flatMap((/** @type {any} */ one) => {
    const colour = app.selection.colour(one.run);
    const line = { type: "scatter", mode: "lines", x: one.step, line: { color: colour, width: 1.6, dash: app.selection.dash(one.run) }, name: app.selection.run(one.run)?.name ?? one.run };
    const relative = { ...line, y: Float64Array.from(one.relative, (v) => v * 1000), hovertemplate: "%{x}: %{y:.4g}‰" };
    const apart = { ...line, y: one.difference, yaxis: "y2", hovertemplate: "%{x}: %{y:.4g}" };
    return [relative, apart];
  });
  const shapes = answer.series.filter((/** @type {any} */ one) => one.parted !== null).map((/** @type {any} */ one) => ({
    type: "line", x0: one.parted, x1: one.parted, yref: "paper", y0: 0, y1: 1, line: { color: app.selection.colour(one.run), width: 1, dash: "dot" },
  }));
  const limit = answer.tolerance * 1000;
  const band = { type: "rect", xref: "paper", x0: 0, x1: 1, y0: -limit, y1: limit, fillcolor: theme.colour("--ok"), opacity: 0.12, line: { width: 0 } };
  return {
    data,
    layout: {
      ...theme.plotly(),
      xaxis: theme.axis({ anchor: "y2", nticks: 6 }),
      yaxis: theme.axis({ domain: [0.55, 1], title: { text: app.t("scalar.compare.relative") }, nticks: 4 }),
      yaxis2: theme.axis({ domain: [0, 0.45], title: { text: app.t("scalar.compare.difference") }, nticks: 4 }),
      shapes: [band, ...shapes],
      hovermode: "closest",
    },
  };
}

/** @param {import("../../core/types.js").App} app @param {any} answer */
function rows(app, answer) {
  return answer.series.map((/** @type {any} */ one) =>
    h(
      "tr",
      null,
      h("td", null, answer.tag),
      h("th", { scope: "row" }, h("i", { class: "swatch", style: { background: app.selection.colour(one.run) } }), " ", app.selection.run(one.run)?.name ?? one.run),
      h("td", null, one.parted === null ? h("span", { class: "badge ok" }, app.t("scalar.compare.never")) : h("span", { class: "badge bad" }, app.t("scalar.compare.at", { step: number(one.parted) }))),
      h("td", { class: "number" }, one.largest === null ? "–" : `${number(one.largest * 1000)}‰`),
      h("td", { class: "number" }, number(one.shared)),
    ),
  );
}

/** Hyper-parameters that are not the same in all runs. @param {Page} page @param {import("../../core/types.js").Run[]} runs */
function settings(page, runs) {
  const { app } = page;
  const keys = [...new Set(runs.flatMap((run) => Object.keys(run.hyper)))].sort();
  const differ = keys.filter((key) => new Set(runs.map((run) => JSON.stringify(run.hyper[key] ?? null))).size > 1);
  if (!differ.length) return h("p", { class: "muted" }, app.t("scalar.compare.same_settings"));
  const text = (/** @type {any} */ value) => (value === undefined || value === null ? "–" : typeof value === "number" ? number(value, 6) : String(value));
  return h("details", { class: "panel", open: true }, h("summary", null, app.t("scalar.compare.settings", { n: differ.length })),
    h("div", { class: "scroll" }, h("table", { class: "table" }, h("thead", null, h("tr", null, h("td", null), runs.map((run) => h("th", { scope: "col" }, run.name)))),
      h("tbody", null, differ.map((key) => h("tr", null, h("th", { scope: "row" }, key), runs.map((run) => h("td", null, text(run.hyper[key])))))))));
}
