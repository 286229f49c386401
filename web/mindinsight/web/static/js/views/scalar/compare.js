// Runs against a baseline: difference curves, the first step where they part, and the settings that differ.

import { card } from "../../components/card.js";
import { empty } from "../../components/empty.js";
import { h, replace, throttle } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/near.js";
import { saveButton } from "../../core/share.js";

/** @typedef {import("./card.js").Page} Page */

const SWEEP_MS = 10_000; // between two looks at all tags while runs grow

/** The run that the others are measured against: the pinned one, or the first selected. @param {Page} page */
export function baselineOf(page) {
  const { selection } = page.app;
  return selection.baseline() ?? selection.runs()[0] ?? null;
}

/** Tags that the baseline and another run hold: only these can be compared. @param {Page} page @param {string[]} tags @param {string} base */
export function comparable(page, tags, base) {
  const selected = page.app.selection.has(base); // what an unselected run holds is not known here
  return tags.filter((tag) => {
    const runs = page.runsOf(tag);
    return runs.some((run) => run !== base) && (!selected || runs.includes(base));
  });
}

/** @param {Page} page @param {string[]} tags */
export function compareView(page, tags) {
  const { app } = page;
  const base = baselineOf(page);
  const others = app.selection.runs().filter((run) => run.id !== base?.id);
  if (!base || !others.length) {
    return { element: empty({ title: app.t("scalar.compare.need"), text: app.t("scalar.compare.how") }), load() {}, update() {}, paint() {}, end() {} };
  }
  const cards = comparable(page, tags, base.id).map((tag) => new DifferenceCard(page, tag, base.id));
  const verdicts = verdictTable(app, app.t("scalar.compare.caption", { run: base.name, tolerance: number(page.options().tolerance) }), cards);
  const grid = h("div", { class: "cards" }, cards.map((one) => one.element));
  const element = h("div", { class: "stack" }, verdicts, settings(page, [base, ...others]), grid);
  const asked = latest(element);
  /** The verdicts of cards that nobody has scrolled to, one after the other. */
  const sweep = () =>
    asked.ask(async (signal) => {
      for (const one of cards) if (!one.known()) await one.judge(signal);
    }, () => {}, leaveAsIs);
  const again = throttle(sweep, SWEEP_MS);
  return {
    element,
    load: () => (cards.forEach((one) => one.load()), sweep()),
    paint: () => cards.forEach((one) => one.paint()),
    update: () => (cards.forEach((one) => one.load()), again()),
    end: () => (asked.end(), cards.forEach((one) => one.end())),
  };
}

/** @param {import("../../core/types.js").App} app @param {string} caption @param {DifferenceCard[]} cards */
function verdictTable(app, caption, cards) {
  const heads = ["scalar.compare.tag", "scalar.tip.run", "scalar.compare.parted", "scalar.compare.largest", "scalar.compare.shared"];
  const head = h("tr", null, heads.map((key, i) => h("th", { scope: "col", class: i > 2 ? "number" : null }, app.t(key))));
  const table = h("table", { class: "table" }, h("caption", null, caption), h("thead", null, head), cards.map((one) => one.verdict));
  return h("div", { class: "panel scroll scalar-verdicts", tabindex: "0", role: "region", "aria-label": app.t("scalar.mode.compare") }, table);
}

class DifferenceCard {
  /** @param {Page} page @param {string} tag @param {string} baseline */
  constructor(page, tag, baseline) {
    const { app } = page;
    this.page = page;
    this.tag = tag;
    this.baseline = baseline;
    /** What is drawn. @type {any} */
    this.answer = null;
    /** Whether the verdict is that of the newest question. */
    this.judged = false;
    this.verdict = h("tbody", null);
    this.plot = h("div", { class: "chart", role: "img", "aria-label": app.t("scalar.compare.chart", { tag }) });
    this.element = card({ title: tag, tools: [saveButton(app, () => this.element, tag)], body: this.plot, full: { label: app.t("common.fullscreen") } });
    this.asked = latest(this.element);
    this.seen = whenNear(this.element, () => this.fetch());
  }

  known() {
    return this.judged;
  }

  load() {
    this.judged = false;
    this.seen.ask();
  }

  fetch() {
    this.asked.ask((signal) => this.ask(this.plot.clientWidth, signal), (answer) => {
      this.answer = answer;
      this.tell(answer);
      this.paint();
    }, leaveAsIs);
  }

  /** The verdict alone, without a curve to draw. @param {AbortSignal} signal */
  async judge(signal) {
    const answer = await this.ask(1, signal);
    if (!signal.aborted && !this.judged) this.tell(answer);
  }

  /** @param {number} width px @param {AbortSignal} signal */
  ask(width, signal) {
    const { app, options } = this.page;
    const run = app.selection.runs().map((one) => one.id);
    const params = { tag: this.tag, run, baseline: this.baseline, tolerance: options().tolerance, px: Math.min(width || 400, 2000) };
    return app.api.columns("v2/scalar/compare", params, { signal });
  }

  /** @param {any} answer */
  tell(answer) {
    this.judged = true;
    replace(this.verdict, rows(this.page.app, answer));
  }

  paint() {
    const { answer } = this;
    if (answer) this.page.app.charts.draw(this.plot, () => difference(this.page, answer));
  }

  end() {
    this.asked.end();
    this.seen.end();
    this.page.app.charts.remove(this.plot);
  }
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
