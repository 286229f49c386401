// Scalars page: a chart for every tag of the selected runs, grouped by prefix.

import { emptyState } from "../components/nothing.js";
import { grownRuns } from "../core/changes.js";
import { h, renew, replace, throttle } from "../core/dom.js";
import { keepFocus } from "../core/focus.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { onceATask } from "../core/lazy_work.js";
import { preferencesOf } from "../core/preferences.js";
import { nameOf } from "../core/tags.js";
import { alertMarks } from "./scalar/alert_marks.js";
import { baselineOf, compareView } from "./scalar/compare.js";
import { createCursor } from "./scalar/cursor.js";
import { curvesView } from "./scalar/curves.js";
import { displayButton } from "./scalar/display_menu.js";
import { groupsView } from "./scalar/groups.js";
import { layersView } from "./scalar/layers.js";
import { readOptions, writeOptions } from "./scalar/options.js";
import { emptyPart } from "./scalar/mode_view.js";
import { AS_RECORDED } from "./scalar/sections.js";
import { tagTree } from "./scalar/tag_tree.js";
import { createPast } from "./scalar/zoom_history.js";
import { ranksView } from "./scalar/ranks.js";
import { seriesRequests, tailRequests } from "./scalar/series_request.js";
import { scalarTags, systemTags } from "./scalar/telling.js";
import { patternOf, toolbar } from "./scalar/toolbar.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/tags.js").Tag} Tag */
/** @typedef {import("./scalar/card.js").Page} Page */
/** @typedef {import("./scalar/options.js").Options} Options */

/** Options that need other data; all others only another drawing. */
const FETCH = [
  "x",
  "smooth",
  "smoothKind",
  "logX",
  "overwritten",
  "zoom",
  "tolerance",
  "group",
  "bins",
  "ended",
];
/** Options that need other cards. */
const BUILD = ["mode", "filter", "pins", "mixes", "job", "pairs", "baseline"];
/** Options of which cards are shown where; the curves stay. */
const ARRANGE = ["filter", "pins", "mixes", ...Object.keys(AS_RECORDED)];
/** Options that need other controls. */
const HEAD = ["mode", "zoom", "tall", "pairs", "baseline"];
const GAP = 1000; // ms between two looks for new points: no chart is drawn more often
const MODES = {
  curves: curvesView,
  compare: compareView,
  ranks: ranksView,
  groups: groupsView,
  layers: layersView,
};

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export function mount(root, app) {
  return mountCharts(root, app, "scalar");
}

/**
 * Mount the page of one kind of scalars.
 * @param {HTMLElement} root
 * @param {App} app
 * @param {"scalar" | "system"} kind
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mountCharts(root, app, kind) {
  const view = new Scalars(root, app, kind);
  await view.start();
  return {
    update: (change) => view.update(change),
    unmount: () => view.end(),
  };
}

/** Page of one mode: curves, comparison, ranks, groups or layers. */
class Scalars {
  /** @param {HTMLElement} root @param {App} app @param {"scalar" | "system"} kind */
  constructor(root, app, kind) {
    this.app = app;
    this.kind = kind;
    this.options = readOptions(app.url, preferencesOf(app).smoothing, kind);
    /** What the mode shows. @type {import("./scalar/mode_view.js").Part | null} */
    this.part = null;
    /** The tags of the selected runs, as read last. @type {Tag[] | null} */
    this.tags = null;
    /** The selected runs that hold a tag. @type {Map<string, string[]>} */
    this.holders = new Map();
    /** Whether other runs are shown since the tags were read: chosen by somebody, new, or gone. */
    this.otherRuns = false;
    /** Runs with points that the cards were not told of. @type {Set<string>} */
    this.grown = new Set();
    this.follow = throttle(() => {
      const runs = [...this.grown];
      this.grown.clear();
      this.part?.update(runs);
    }, GAP);
    this.runs = this.runsShown();
    /** What the tags of the shown runs depend on. */
    this.contents = "";
    /** The button of the panel of settings; one for all toolbars, since the panel stays open over them. */
    this.display = /** @type {ReturnType<typeof displayButton> | null} */ (null);
    this.head = h("div", null);
    this.body = h("div", { class: "scalar-cards" });
    this.past = createPast();
    this.page = this.createPage(root);
    this.tree = tagTree(this.page, this.body);
    replace(root, this.head, this.tree.element, this.body);
    this.requests = latest(root);
    let columns = 0;
    const sized = new ResizeObserver(() => {
      const before = columns;
      columns = columnsIn(this.body);
      if (before && columns !== before) this.choose();
    });
    sized.observe(this.body);
    this.subscriptions = [
      () => sized.disconnect(),
      app.selection.on((reason) => this.select(reason)),
      app.theme.on(() => this.part?.paint()),
      app.url.on(() => this.reread()),
    ];
  }

  /** Create the interface of this page for cards and controls. @param {HTMLElement} root @returns {Page} */
  createPage(root) {
    const { app, past } = this;
    /** @type {Page} */
    const page = {
      app,
      kind: this.kind,
      options: () => this.options,
      change: (changes) => {
        past.leave(this.options, changes);
        this.change(changes);
      },
      back: () => this.change(past.back() ?? {}),
      canGoBack: past.any,
      find: (filter) => {
        page.change({ filter });
        replace(this.head, toolbar(page));
      },
      cursor: createCursor(app),
      series: seriesRequests(app.api),
      tails: tailRequests(app.api),
      alerts: alertMarks(app, root, () => this.options.mode === "curves" && this.part?.paint()),
      tags: [],
      runsOf: (tag) => this.holders.get(tag) ?? [],
      passing: (tags) => tagsShown(tags, this.options.filter),
      columns: onceATask(() => columnsIn(this.body)),
      shown: () => page.passing(page.tags),
      displayButton: () => (this.display ??= displayButton(page)).drawn(),
    };
    return page;
  }

  /** Load alerts and tags, then build the cards. */
  start() {
    this.page.alerts.read();
    return this.readTags();
  }

  /** Change options and refresh what depends on them. @param {Partial<Options>} changes */
  change(changes) {
    const isStep = changes.mode !== undefined && changes.mode !== this.options.mode; // Back undoes it
    this.options = { ...this.options, ...changes };
    writeOptions(this.app.url, this.options, this.kind, isStep);
    const keys = Object.keys(changes);
    this.body.dataset.size = this.options.size;
    if (keys.join() === "folds") return;
    if (keys.every((key) => ARRANGE.includes(key)) && this.choose()) return;
    if (keys.some((key) => BUILD.includes(key))) this.build();
    else if (keys.some((key) => FETCH.includes(key))) this.part?.load();
    else this.part?.paint();
    if (keys.some((key) => HEAD.includes(key))) renew(this.head, toolbar(this.page));
  }

  /** Show the cards of other tags. Return whether the mode could keep its cards. */
  choose() {
    const tags = this.page.shown();
    const elements = this.part?.show?.(tags);
    if (!elements) return false;
    const shown = tags.length ? elements : emptyPart(this.nothing()).element;
    keepFocus(this.body, () => replace(this.body, shown));
    this.tree.show(this.page.tags, true);
    return true;
  }

  /** Create the cards of the mode. */
  build() {
    const { page, options } = this;
    this.part?.end();
    this.body.dataset.size = options.size;
    this.nameComparison();
    const tags = page.shown();
    const hasCards = tags.length || options.mode === "ranks"; // a job's tags are read there
    this.part = hasCards ? MODES[options.mode](page, tags) : emptyPart(this.nothing());
    replace(this.body, this.part.element);
    this.tree.show(page.tags, options.mode === "curves");
    this.part.load();
  }

  /** Create the empty state, which says why there is no card. */
  nothing() {
    const { filter } = this.options;
    return emptyState(this.app, {
      kind: this.kind,
      filter: this.page.tags.length ? filter : "",
      clear: () => this.page.find(""),
      code: this.kind === "scalar" ? 'record.add_value("scalar", "loss", loss)' : "record.record_system()",
    });
  }

  /** Write runs and baseline of a comparison to the address, so that a copied link shows the same one. */
  nameComparison() {
    const compares = this.options.mode === "compare";
    this.app.selection.nameInAddress(compares);
    if (!compares) return;
    this.options = { ...this.options, baseline: baselineOf(this.page)?.id ?? this.options.baseline };
    writeOptions(this.app.url, this.options, this.kind);
  }

  /** Return the shown runs as text, for comparison. */
  runsShown() {
    return this.app.selection
      .runs()
      .map((run) => run.id)
      .join("\n");
  }

  /** Refresh after the selection has changed. @param {string} [reason] why the selection is another one */
  select(reason) {
    const runs = this.runsShown();
    this.otherRuns ||= reason === "runs" || runs !== this.runs;
    if (runs !== this.runs) this.page.alerts.read();
    this.runs = runs;
    if (this.otherRuns || this.contents !== this.contentsShown()) this.readTags(leaveAsIs);
  }

  /** Return a text that changes when a shown run has more scalar tags or was replaced. */
  contentsShown() {
    const runs = this.app.selection.runs();
    return runs.map(({ id, created, kinds }) => `${id} ${created} ${kinds[this.kind] ?? 0}`).join("\n");
  }

  /** Request the tags of the shown runs. @param {(error: Failure) => unknown} [failed] */
  readTags(failed) {
    const contents = this.contentsShown();
    return this.requests.ask(
      (signal) => (this.kind === "system" ? systemTags : scalarTags)(this.app, signal),
      (tags) => {
        this.contents = contents;
        this.takeTags(tags);
      },
      failed,
    );
  }

  /** Store the tags, and build or refresh the cards if they differ. @param {Tag[]} tags */
  takeTags(tags) {
    const names = tags.map(({ tag }) => tag);
    const otherTags = this.tags === null || names.join("\n") !== this.page.tags.join("\n");
    const otherRuns = this.otherRuns || nameOf(tags) !== nameOf(this.tags ?? []); // a run may get a tag late
    this.tags = tags;
    this.holders = new Map(tags.map(({ tag, runs }) => [tag, runs]));
    this.page.tags = names;
    this.otherRuns = false;
    if (otherTags || (otherRuns && this.options.mode === "compare")) renew(this.head, toolbar(this.page));
    if (otherTags || (otherRuns && this.options.mode !== "curves")) this.build();
    else if (otherRuns) this.part?.load();
  }

  /** Show what the address names after it changed. */
  reread() {
    this.options = readOptions(this.app.url, preferencesOf(this.app).smoothing, this.kind);
    this.past.forget();
    replace(this.head, toolbar(this.page));
    this.build();
  }

  /**
   * Refresh after changes on the server, at most once a second.
   * @param {import("../core/types.js").Change} change
   */
  update(change) {
    const runs = grownRuns(this.app, change, "scalar");
    if (change.list) this.page.alerts.read(); // a rule may be another
    runs.forEach((run) => this.grown.add(run));
    if (runs.length || change.list) this.follow();
  }

  /** Leave the page. */
  end() {
    this.subscriptions.forEach((unsubscribe) => unsubscribe());
    this.requests.end();
    this.page.alerts.end();
    this.part?.end();
    this.page.cursor.end();
  }
}

/** Return the number of cards in a row. @param {HTMLElement} body */
function columnsIn(body) {
  const style = getComputedStyle(body);
  const [least, gap] = ["--card", "--space-3"].map((name) => parseFloat(style.getPropertyValue(name)) || 0);
  return Math.max(1, Math.floor((body.clientWidth + gap) / (least + gap)) || 1);
}

/**
 * Return the tags that match the filter; [] if it is invalid.
 * @param {string[]} tags
 * @param {string} filter
 */
function tagsShown(tags, filter) {
  const pattern = patternOf(filter);
  return pattern ? tags.filter((tag) => pattern.test(tag)) : tags;
}
