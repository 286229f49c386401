// Runs against a baseline: difference curves, the first step where they part, and the settings that differ.

import { card } from "../../components/card.js";
import { empty } from "../../components/empty.js";
import { h, replace, throttle } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/near.js";
import { saveButton } from "../../core/share.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("./card.js").Page} Page */

const SWEEP_MS = 10_000; // between two looks at all tags while runs grow

/**
 * The run that the others are measured against: the pinned one, or the first selected that has scalars.
 * @param {Page} page
 */
export function baselineOf(page) {
  const { selection } = page.app;
  return selection.baseline() ?? selection.runs().find((run) => run.kinds.scalar) ?? null;
}

/**
 * Tags that the baseline and another run hold: only these can be compared.
 * @param {Page} page
 * @param {string[]} tags
 * @param {string} base
 */
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
    return {
      element: empty({ title: app.t("scalar.compare.need"), text: app.t("scalar.compare.how") }),
      load() {},
      update() {},
      paint() {},
      end() {},
    };
  }
  const { pairs } = page.options();
  const both = comparable(page, tags, base.id);
  if (!both.length && !pairs.length) {
    return {
      element: empty({
        title: app.t("scalar.compare.nothing", { run: base.name }),
        text: app.t("scalar.compare.how"),
      }),
      load() {},
      update() {},
      paint() {},
      end() {},
    };
  }
  const compared = [...both, ...pairs.map(([, other]) => other)];
  const sharing = others.filter((run) => compared.some((tag) => page.runsOf(tag).includes(run.id)));
  const cards = [...pairs, ...both.map((tag) => [tag, tag])].map(
    ([tag, other]) => new DifferenceCard(page, tag, other, base.id, sharing),
  );
  const caption = app.t("scalar.compare.caption", {
    run: base.name,
    tolerance: number(page.options().tolerance * 1000),
  });
  const facts = h(
    "div",
    { class: "scalar-compared" },
    verdictTable(app, caption, cards, sharing),
    settings(page, [base, ...others]),
  );
  const element = h(
    "div",
    { class: "stack" },
    facts,
    h(
      "div",
      { class: "cards" },
      cards.map((one) => one.element),
    ),
  );
  const asked = latest(element);
  /** The verdicts of cards that nobody has scrolled to, one after the other. */
  const sweep = () =>
    asked.ask(
      async (signal) => {
        for (const one of cards) if (!one.known()) await one.judge(signal);
      },
      () => {},
      leaveAsIs,
    );
  const again = throttle(sweep, SWEEP_MS);
  return {
    element,
    load: () => (cards.forEach((one) => one.load()), sweep()),
    paint: () => cards.forEach((one) => one.paint()),
    update: () => (cards.forEach((one) => one.load()), again()),
    end: () => (asked.end(), cards.forEach((one) => one.end())),
  };
}

/**
 * One row for each tag, one column for each run: where they part, and how far they go.
 * @param {App} app @param {string} caption @param {DifferenceCard[]} cards @param {Run[]} others
 */
function verdictTable(app, caption, cards, others) {
  const heads = others.map((run) => h("th", { scope: "col" }, swatch(app, run.id), " ", run.name));
  const head = h("tr", null, h("th", { scope: "col" }, app.t("scalar.compare.tag")), heads);
  return folded(
    app.t("scalar.mode.compare"),
    caption,
    h(
      "table",
      { class: "table" },
      h("thead", null, head),
      h(
        "tbody",
        null,
        cards.map((one) => one.verdict),
      ),
    ),
    true,
  );
}

/**
 * A table under its heading, beside another one.
 * @param {string} name
 * @param {string} title
 * @param {HTMLElement} table
 * @param {boolean} open
 */
function folded(name, title, table, open) {
  return h(
    "details",
    { class: "panel", open },
    h("summary", null, title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table),
  );
}

/** @param {App} app @param {string} run */
function swatch(app, run) {
  return h("i", { class: "swatch", style: { background: app.selection.colour(run) } });
}

class DifferenceCard {
  /**
   * @param {Page} page
   * @param {string} tag of the baseline
   * @param {string} other tag of the other runs
   * @param {string} baseline
   * @param {Run[]} others
   */
  constructor(page, tag, other, baseline, others) {
    const { app } = page;
    this.page = page;
    this.tag = tag;
    this.other = other;
    this.name = tag === other ? tag : `${tag} ↔ ${other}`;
    this.baseline = baseline;
    this.others = others;
    /** What is drawn. @type {any} */
    this.answer = null;
    /** Whether the verdict is that of the newest question. */
    this.judged = false;
    this.verdict = h(
      "tr",
      null,
      h("th", { scope: "row" }, this.name),
      others.map(() => h("td", { class: "muted" }, "…")),
    );
    this.plot = h("div", {
      class: "chart",
      role: "img",
      "aria-label": app.t("scalar.compare.chart", { tag: this.name }),
    });
    this.element = card({
      title: this.name,
      tools: [saveButton(app, () => this.element, this.name)],
      body: this.plot,
      full: { label: app.t("common.fullscreen") },
    });
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
    this.asked.ask(
      (signal) => this.ask(this.plot.clientWidth, signal),
      (answer) => {
        this.answer = answer;
        this.tell(answer);
        this.paint();
      },
      leaveAsIs,
    );
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
    const params = {
      tag: this.tag,
      other: this.other === this.tag ? null : this.other,
      run,
      baseline: this.baseline,
      tolerance: options().tolerance,
      px: Math.min(width || 400, 2000),
    };
    return app.api.columns("v2/scalar/compare", params, { signal });
  }

  /** @param {any} answer */
  tell(answer) {
    this.judged = true;
    const found = new Map(answer.series.map((/** @type {any} */ one) => [one.run, one]));
    replace(
      this.verdict,
      h("th", { scope: "row" }, this.name),
      this.others.map((run) => verdict(this.page.app, found.get(run.id))),
    );
    this.element.hidden = !found.size;
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
    const line = {
      type: "scatter",
      mode: "lines",
      x: one.step,
      line: { color: colour, width: 1.6, dash: app.selection.dash(one.run) },
      name: app.selection.run(one.run)?.name ?? one.run,
    };
    const relative = {
      ...line,
      y: Float64Array.from(one.relative, (v) => v * 1000),
      hovertemplate: "%{x}: %{y:.4g}‰",
    };
    const apart = { ...line, y: one.difference, yaxis: "y2", hovertemplate: "%{x}: %{y:.4g}" };
    return [relative, apart];
  });
  const shapes = answer.series
    .filter((/** @type {any} */ one) => one.parted !== null)
    .map((/** @type {any} */ one) => ({
      type: "line",
      x0: one.parted,
      x1: one.parted,
      yref: "paper",
      y0: 0,
      y1: 1,
      line: { color: app.selection.colour(one.run), width: 1, dash: "dot" },
    }));
  const limit = answer.tolerance * 1000;
  const band = {
    type: "rect",
    xref: "paper",
    x0: 0,
    x1: 1,
    y0: -limit,
    y1: limit,
    fillcolor: theme.colour("--ok"),
    opacity: 0.12,
    line: { width: 0 },
  };
  return {
    data,
    layout: {
      ...theme.plotly(),
      xaxis: theme.axis({ anchor: "y2", nticks: 6 }),
      yaxis: theme.axis({ domain: [0.55, 1], title: { text: app.t("scalar.compare.relative") }, nticks: 4 }),
      yaxis2: theme.axis({
        domain: [0, 0.45],
        title: { text: app.t("scalar.compare.difference") },
        nticks: 4,
      }),
      shapes: [band, ...shapes],
      hovermode: "closest",
    },
  };
}

/** What is said of a run and a tag. @param {App} app @param {any} one undefined for a run without the tag */
function verdict(app, one) {
  if (!one) return h("td", { class: "muted" }, "–");
  if (!one.shared) return h("td", { class: "muted" }, app.t("scalar.compare.apart"));
  const parted = one.parted !== null;
  const badge = h(
    "span",
    { class: `badge ${parted ? "bad" : "ok"}` },
    parted ? app.t("scalar.compare.at", { step: number(one.parted, 12) }) : app.t("scalar.compare.never"),
  );
  const most = one.largest ? app.t("scalar.compare.largest", { most: number(one.largest * 1000, 3) }) : "";
  return h(
    "td",
    { title: app.t("scalar.compare.shared", { n: one.shared }) },
    badge,
    " ",
    h("span", { class: "muted" }, most),
  );
}

/** Hyper-parameters that are not the same in all runs. @param {Page} page @param {Run[]} runs */
function settings(page, runs) {
  const { app } = page;
  const keys = [...new Set(runs.flatMap((run) => Object.keys(run.hyper)))].sort();
  const differ = keys.filter(
    (key) => new Set(runs.map((run) => JSON.stringify(run.hyper[key] ?? null))).size > 1,
  );
  if (!differ.length) return h("p", { class: "muted" }, app.t("scalar.compare.same_settings"));
  const text = (/** @type {any} */ value) =>
    value === undefined || value === null
      ? "–"
      : typeof value === "number"
        ? number(value, 6)
        : String(value);
  const head = h(
    "tr",
    null,
    h("td", null),
    runs.map((run) => h("th", { scope: "col" }, run.name)),
  );
  const body = differ.map((key) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, key),
      runs.map((run) => h("td", null, text(run.hyper[key]))),
    ),
  );
  const title = app.t("scalar.compare.settings", { n: differ.length });
  return folded(
    title,
    title,
    h("table", { class: "table" }, h("thead", null, head), h("tbody", null, body)),
    !matchMedia("(max-width: 760px)").matches,
  );
}
