// Histograms: how the values of a tag are spread, over the steps of each run, or of all runs at one step.

import { card } from "../components/card.js";
import { segments } from "../components/button.js";
import { empty } from "../components/empty.js";
import { searchBox, select, slider } from "../components/field.js";
import { grownRuns } from "../core/changes.js";
import { h, renew, replace, throttle } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { whenNear } from "../core/near.js";
import { saveButton } from "../core/share.js";
import { nameOf, tagsOf } from "../core/tags.js";
import { bands, beside, heat, overlay, ridge } from "./histogram/figures.js";
import { firstStrange, strange } from "./histogram/strange.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {{mode: string, axis: string, filter: string, step: number}} Options */

const MODES = ["heat", "percentile", "ridge", "overlay", "beside"];
const AXES = ["step", "relative", "wall"];
const FIGURES = { heat, percentile: bands, ridge, overlay };
const MOST_RIDGES = 60;

/** @param {HTMLElement} root @param {App} app @returns {Promise<import("../core/types.js").View>} */
export async function mount(root, app) {
  /** @type {Options} */
  let options = read(app);
  /** @type {{load: () => void, paint: () => void, end: () => void, runs: string[]}[]} */
  let cards = [];
  const head = h("div", null);
  const body = h("div", null);
  replace(root, head, body);

  /** @param {Partial<Options>} some */
  const change = (some) => {
    options = { ...options, ...some };
    app.url.set({
      m: options.mode === "heat" ? null : options.mode,
      x: options.axis === "step" ? null : options.axis,
      q: options.filter,
      at: options.mode === "beside" ? options.step : null,
    });
    if ("axis" in some) cards.forEach((one) => one.paint());
    else if ("step" in some) cards.forEach((one) => one.load());
    else build();
  };

  const asked = latest(root);
  /** @type {import("../core/tags.js").Tag[] | null} those of the selected runs */
  let tags = null;
  /** Runs with new points since the tags were read. @type {Set<string>} */
  const grown = new Set();

  const build = () => {
    const shown = (tags ?? []).filter((one) => one.tag.toLowerCase().includes(options.filter.toLowerCase()));
    cards.forEach((one) => one.end());
    renew(head, toolbar(app, options, change));
    const make = options.mode === "beside" ? besideCards : overCards;
    cards = make(app, shown, () => options);
    replace(
      body,
      cards.length
        ? h(
            "div",
            { class: "cards" },
            cards.map((one) => /** @type {any} */ (one).element),
          )
        : nothing(app, options),
    );
    cards.forEach((one) => one.load());
  };

  /**
   * New points, new tags or other runs.
   * @param {string[]} changed runs
   * @param {(error: any) => any} [failed]
   */
  const follow = (changed, failed) => {
    changed.forEach((run) => grown.add(run));
    return asked.ask(
      (signal) => tagsOf(app, "histogram", signal),
      (next) => {
        const same = tags !== null && nameOf(next) === nameOf(tags);
        tags = next;
        if (!same) build();
        else cards.filter((one) => one.runs.some((run) => grown.has(run))).forEach((one) => one.load());
        grown.clear();
      },
      failed,
    );
  };

  const offSelection = app.selection.on(() => follow([], leaveAsIs));
  const offTheme = app.theme.on(() => cards.forEach((one) => one.paint()));
  const offUrl = app.url.on(() => {
    options = read(app);
    replace(head);
    if (tags) build();
  });
  await follow([]);
  return {
    update(update) {
      const changed = grownRuns(app, update, "histogram");
      if (changed.length) follow(changed, leaveAsIs);
    },
    unmount() {
      [offSelection, offTheme, offUrl, asked.end].forEach((off) => off());
      cards.forEach((one) => one.end());
    },
  };
}

/** @param {App} app @returns {Options} */
function read(app) {
  const mode = app.url.get("m", "heat");
  const axis = app.url.get("x", "step");
  return {
    mode: MODES.includes(mode) ? mode : "heat",
    axis: AXES.includes(axis) ? axis : "step",
    filter: app.url.get("q", ""),
    step: Number(app.url.get("at", "0")),
  };
}

/** @param {App} app @param {Options} options @param {(some: Partial<Options>) => void} change */
function toolbar(app, options, change) {
  const { t } = app;
  const mode = segments({
    label: t("histogram.mode"),
    options: MODES.map((value) => ({ value, label: t(`histogram.mode.${value}`) })),
    value: options.mode,
    onchange: (value) => change({ mode: value }),
  });
  const filter = searchBox({
    label: t("histogram.filter"),
    value: options.filter,
    onchange: (value) => change({ filter: value }),
  });
  const places = AXES.map((value) => ({ value, label: t(`histogram.x.${value}`) }));
  const axis = select({
    label: t("histogram.x"),
    options: places,
    value: options.axis,
    onchange: (value) => change({ axis: value }),
  });
  const most = newest(app);
  const step = slider({
    label: t("histogram.step"),
    min: 0,
    max: most,
    step: 1,
    value: options.step || most,
    delay: 100,
    onchange: (value) => change({ step: value }),
  });
  return h("div", { class: "toolbar" }, mode, filter, options.mode === "beside" ? step : axis);
}

/**
 * A card for each tag of each run.
 * @param {App} app
 * @param {{tag: string, runs: string[]}[]} tags
 * @param {() => Options} options
 */
function overCards(app, tags, options) {
  return tags.flatMap(({ tag, runs }) =>
    runs.filter((run) => app.selection.has(run)).map((run) => overCard(app, tag, run, options)),
  );
}

/** @param {App} app @param {string} tag @param {string} run @param {() => Options} options */
function overCard(app, tag, run, options) {
  /** @type {import("./histogram/figures.js").Series | null} */
  let series = null;
  const plot = h("div", { class: "chart", role: "img", "aria-label": `${tag}, ${run}` });
  const foot = h("div", { class: "row small" });
  const paint = () => {
    if (!series) return;
    const known = series;
    const mode = /** @type {keyof FIGURES} */ (options().mode);
    if (FIGURES[mode]) app.charts.draw(plot, () => FIGURES[mode](app, known, options().axis));
    replace(
      foot,
      who(app, run),
      h("span", { class: "grow" }, app.t("histogram.steps", { shown: known.shown, n: known.count })),
      strange(
        app,
        known.non_finite,
        firstStrange(known.step, (kind, at) => /** @type {any} */ (known)[kind][at]),
      ),
    );
  };
  const load = throttle(() => {
    const few = ["ridge", "overlay"].includes(options().mode);
    const columns = few ? Math.min(MOST_RIDGES, 40) : Math.max(60, Math.min(500, plot.clientWidth));
    asked.ask(
      (signal) =>
        app.api.columns("v2/histogram/series", { run, tag, columns, each: few || null }, { signal }),
      (answer) => {
        series = answer;
        paint();
      },
      leaveAsIs,
    );
  }, 1000);
  const element = card({
    title: tag,
    tools: [saveButton(app, () => element, tag)],
    body: plot,
    foot,
    full: { label: app.t("common.fullscreen") },
  });
  const asked = latest(element);
  const seen = whenNear(element, load);
  return {
    element,
    paint,
    load: seen.ask,
    runs: [run],
    end: () => (asked.end(), seen.end(), app.charts.remove(plot)),
  };
}

/**
 * A card for each tag, with every run's histogram at one step.
 * @param {App} app
 * @param {{tag: string, runs: string[]}[]} tags
 * @param {() => Options} options
 */
function besideCards(app, tags, options) {
  return tags.map((one) => besideCard(app, one, options));
}

/** @param {App} app @param {{tag: string, runs: string[]}} what @param {() => Options} options */
function besideCard(app, { tag, runs }, options) {
  /** @type {any[]} */
  let found = [];
  const plot = h("div", { class: "chart", role: "img", "aria-label": tag });
  const foot = h("div", { class: "row small wrap" });
  const paint = () => {
    app.charts.draw(plot, () => beside(app, found));
    replace(
      foot,
      found.map((one) =>
        h(
          "span",
          { class: "row" },
          who(app, one.run),
          app.t("histogram.at", { step: app.format.number(one.step) }),
          strange(app, one),
        ),
      ),
    );
  };
  const load = () => {
    const step = options().step || newest(app);
    const run = runs.filter((one) => app.selection.has(one));
    asked.ask(
      (signal) => app.api.columns("v2/histogram/at", { tag, run, step: Math.round(step) }, { signal }),
      (answer) => {
        found = answer.runs;
        paint();
      },
      leaveAsIs,
    );
  };
  const element = card({
    title: tag,
    tools: [saveButton(app, () => element, tag)],
    body: plot,
    foot,
    full: { label: app.t("common.fullscreen") },
  });
  const asked = latest(element);
  const seen = whenNear(element, load);
  return {
    element,
    paint,
    load: seen.ask,
    runs,
    end: () => (asked.end(), seen.end(), app.charts.remove(plot)),
  };
}

/** The newest step of the runs with histograms. @param {App} app */
function newest(app) {
  return Math.max(
    1,
    ...app.selection
      .runs()
      .filter((run) => run.kinds.histogram)
      .map((run) => run.step),
  );
}

/** @param {App} app @param {string} run */
function who(app, run) {
  return h(
    "span",
    { class: "row ellipsis" },
    h("i", { class: "swatch", style: { background: app.selection.colour(run) } }),
    app.selection.run(run)?.name ?? run,
  );
}

/** @param {App} app @param {Options} options */
function nothing(app, options) {
  if (options.filter) return empty({ title: app.t("histogram.none_match") });
  return empty({
    title: app.t("histogram.none"),
    text: app.t("histogram.none_how"),
    code: 'record.add_value("histogram", "fc.weight", weight)',
  });
}
