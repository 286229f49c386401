// Scalars: every tag of the selected runs as a chart, grouped by prefix; losses and accuracies first.

import { empty } from "../components/empty.js";
import { grownRuns } from "../core/changes.js";
import { h, renew, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { nameOf, tagsOf } from "../core/tags.js";
import { alertMarks } from "./scalar/alert_marks.js";
import { curveCard } from "./scalar/card.js";
import { compareView } from "./scalar/compare.js";
import { createCursor } from "./scalar/cursor.js";
import { groupsView } from "./scalar/groups.js";
import { readOptions, writeOptions } from "./scalar/options.js";
import { createPast } from "./scalar/past.js";
import { ranksView } from "./scalar/ranks.js";
import { patternOf, toolbar } from "./scalar/toolbar.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./scalar/options.js").Options} Options */
/**
 * @typedef {Object} Part
 * @property {HTMLElement} element
 * @property {() => any} load
 * @property {(runs: string[]) => any} update
 * @property {() => any} paint
 * @property {() => any} end
 */

const FIRST = /loss|acc|metric|error|perplexity|reward/i;
/** Changes that need other data; all others only another drawing. */
const FETCH = ["x", "smooth", "logX", "overwritten", "zoom", "tolerance", "group"];
/** Changes that need other cards. */
const BUILD = ["mode", "filter", "pins", "mixes", "job", "pairs"];
/** Changes that need other controls. */
const HEAD = ["mode", "zoom", "tall", "pairs"];

/** @param {HTMLElement} root @param {App} app @returns {Promise<import("../core/types.js").View>} */
export async function mount(root, app) {
  let options = readOptions(app.url);
  /** @type {Part[]} */
  let parts = [];
  /** @type {Map<string, string[]>} tag -> selected runs that hold it */
  let holders = new Map();
  const head = h("div", null);
  const body = h("div", { class: "scalar-cards" });
  const cursor = createCursor(app);
  const past = createPast();
  const alerts = alertMarks(
    app,
    root,
    () => options.mode === "curves" && parts.forEach((part) => part.paint()),
  );
  replace(root, head, body);

  /** @type {import("./scalar/card.js").Page} */
  const page = {
    app,
    options: () => options,
    change(some) {
      past.leave(options, some);
      change(some);
    },
    back: () => change(past.back() ?? {}),
    canGoBack: past.any,
    cursor,
    alerts,
    tags: [],
    runsOf: (tag) => holders.get(tag) ?? [],
    passing: (tags) => tagsShown(tags, options.filter),
    shown: () => page.passing(page.tags),
  };

  /** @param {Partial<Options>} some */
  function change(some) {
    options = { ...options, ...some };
    writeOptions(app.url, options);
    const keys = Object.keys(some);
    body.dataset.size = options.size;
    if (keys.some((key) => BUILD.includes(key))) build();
    else if (keys.some((key) => FETCH.includes(key))) parts.forEach((part) => part.load());
    else parts.forEach((part) => part.paint());
    if (keys.some((key) => HEAD.includes(key))) renew(head, toolbar(page));
  }

  const build = () => {
    parts.forEach((part) => part.end());
    body.dataset.size = options.size;
    const tags = page.shown();
    if (!tags.length && options.mode !== "ranks") {
      parts = [];
      replace(body, nothing(page));
    } else if (options.mode === "curves") {
      const made = sections(page, tags);
      parts = made.parts;
      replace(body, made.elements);
    } else {
      const part = { compare: compareView, ranks: ranksView, groups: groupsView }[options.mode](page, tags);
      parts = [part];
      replace(body, part.element);
    }
    parts.forEach((part) => part.load());
  };

  const asked = latest(root);
  let first = true;
  /** Whether other runs are shown since the tags were read: chosen by somebody, new, or gone. */
  let others = false;
  /** The tags and the runs that hold them: a run may come to hold one late. */
  let held = "";
  const idsShown = () =>
    app.selection
      .runs()
      .map((run) => run.id)
      .join("\n");
  let ids = idsShown();

  /** @param {import("../core/tags.js").Tag[]} found */
  const takeTags = (found) => {
    const next = found.map((one) => one.tag);
    const fresh = first || next.join("\n") !== page.tags.join("\n");
    const chosen = others || nameOf(found) !== held;
    [first, others, held] = [false, false, nameOf(found)];
    holders = new Map(found.map((one) => [one.tag, one.runs]));
    page.tags = next;
    if (fresh) renew(head, toolbar(page));
    if (fresh || (chosen && options.mode !== "curves")) build();
    else if (chosen) parts.forEach((part) => part.load());
  };

  /** @param {(error: any) => any} [failed] */
  const readTags = (failed) => asked.ask((signal) => tagsOf(app, "scalar", signal), takeTags, failed);

  const offSelection = app.selection.on((reason) => {
    const before = ids;
    ids = idsShown();
    others ||= reason === "runs" || ids !== before;
    if (ids !== before) alerts.read();
    readTags(leaveAsIs);
  });
  const offTheme = app.theme.on(() => parts.forEach((part) => part.paint()));
  const offUrl = app.url.on(() => {
    options = readOptions(app.url);
    past.forget();
    replace(head, toolbar(page));
    build();
  });

  alerts.read();
  await readTags();

  return {
    update(change) {
      const runs = grownRuns(app, change, "scalar");
      if (change.list) alerts.read(); // a rule may be another
      if (runs.length || change.list) parts.forEach((part) => part.update(runs));
    },
    unmount() {
      [offSelection, offTheme, offUrl, asked.end, alerts.end].forEach((off) => off());
      parts.forEach((part) => part.end());
      cursor.end();
    },
  };
}

/** @param {string[]} tags @param {string} filter */
function tagsShown(tags, filter) {
  const pattern = patternOf(filter);
  return pattern ? tags.filter((tag) => pattern.test(tag)) : tags;
}

/**
 * Pinned and mixed charts on top, then one section per prefix.
 * @param {import("./scalar/card.js").Page} page @param {string[]} tags
 */
function sections(page, tags) {
  const { app } = page;
  const { pins, mixes } = page.options();
  const pinned = pins
    .map((pin) => pin.split("|"))
    .filter((some) => some.every((tag) => page.tags.includes(tag)));
  /** @type {[string, string[][]][]} */
  const groups = [];
  if (pinned.length) groups.push([app.t("scalar.pinned"), pinned]);
  const free = mixes.filter((mix) => !pins.includes(mix.join("|")));
  if (free.length) groups.push([app.t("scalar.mixed"), free]);
  groups.push(
    ...byPrefix(
      tags.filter((tag) => !pins.includes(tag)),
      app.t("scalar.no_prefix"),
    ),
  );
  /** @type {Part[]} */
  const parts = [];
  const elements = groups.map(([name, charts]) => {
    const cards = charts.map((some) => curveCard(page, some));
    parts.push(...cards);
    const grid = h(
      "div",
      { class: "cards" },
      cards.map((card) => card.element),
    );
    if (groups.length === 1) return grid;
    return h(
      "details",
      { class: charts.length === 1 ? "group alone" : "group", open: true },
      h("summary", null, name, h("span", { class: "badge" }, charts.length)),
      grid,
    );
  });
  return { parts, elements };
}

/** @param {string[]} tags @param {string} none @returns {[string, string[][]][]} */
function byPrefix(tags, none) {
  /** @type {Map<string, string[][]>} */
  const groups = new Map();
  for (const tag of [...tags].sort(lossesFirst)) {
    const prefix = tag.includes("/") ? tag.slice(0, tag.indexOf("/")) : none;
    groups.set(prefix, [...(groups.get(prefix) ?? []), [tag]]);
  }
  return [...groups];
}

/** @param {string} a @param {string} b */
function lossesFirst(a, b) {
  return Number(FIRST.test(b)) - Number(FIRST.test(a)) || a.localeCompare(b, undefined, { numeric: true });
}

/** @param {import("./scalar/card.js").Page} page */
function nothing(page) {
  const { app } = page;
  if (page.tags.length) return empty({ title: app.t("scalar.none_match"), text: page.options().filter });
  const any = app.selection.all().some((run) => run.kinds.scalar);
  return empty({
    title: app.t(any ? "scalar.none_selected" : "scalar.none"),
    text: app.t(any ? "scalar.none_selected_how" : "scalar.none_how"),
    code: any ? undefined : 'record.add_value("scalar", "loss", loss)',
  });
}
