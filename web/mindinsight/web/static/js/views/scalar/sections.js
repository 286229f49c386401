// Sections of cards: pinned and added charts first, then tags by prefix, as the user has arranged them.

import { byName } from "../../core/run_list.js";
import { afterMove, followerAfterDrop, movesOf, withMoves } from "../../core/arrangement.js";
import { machineName, SYSTEM } from "./machine.js";
import { FORMULA } from "./options.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {{id: string, name: string, charts: string[]}} Section keys of charts: tags joined by "|" */

const FIRST = /loss|acc|metric|error|perplexity|reward/i;
export const CARD = "card"; // what is dragged
export const PINNED = ":pinned"; // tags do not begin with a colon
const ADDED = ":added";
const NO_PREFIX = ":none";
/** Options that hold the arrangement, and their values without one. */
export const AS_RECORDED = { moves: [], hidden: [], spans: new Map(), names: new Map(), own: [], order: [] };

/**
 * Return the sections in order, with all their charts, hidden ones included.
 * @param {Page} page
 * @returns {Section[]}
 */
export function sectionsOf(page) {
  const { t } = page.app;
  const { pins, mixes, moves, names, own, order } = page.options();
  const present = new Set(page.tags);
  const isPresent = (/** @type {string} */ key) =>
    key.split("|").every((tag) => present.has(tag) || tag.startsWith(FORMULA));
  const pinned = pins.filter(isPresent);
  const added = mixes.map((tags) => tags.join("|"));
  const charts = [...new Set([...added, ...inOrder(page.tags)])];
  const moved = new Map(moves.map(([chart, , section]) => [chart, section]));
  /** @type {Map<string, string[]>} */
  const members = new Map([[PINNED, pinned], ...[ADDED, ...own].map(emptyPair)]);
  for (const chart of charts) {
    const chosen = moved.get(chart);
    const home = added.includes(chart) ? ADDED : prefixOf(chart);
    const id = chosen === undefined || chosen === PINNED ? home : chosen;
    const section = members.get(id);
    if (section) section.push(chart);
    else members.set(id, [chart]);
  }
  members.forEach((section, id) => {
    const ordered = withMoves(section, movesIn(moves, id)); // pinned charts hold their positions
    members.set(id, id === PINNED ? ordered : ordered.filter((chart) => !pins.includes(chart)));
  });
  const shown = [...members.keys()].filter((id) => members.get(id)?.length || own.includes(id));
  const builtIn = new Map([PINNED, ADDED, NO_PREFIX].map((id, i) => [id, t(NAMES[i])]));
  return withMoves(shown, order).map((id) => ({
    id,
    name: names.get(id) ?? builtIn.get(id) ?? machineName(t, id) ?? id,
    charts: members.get(id) ?? [],
  }));
}

/** Return a section without charts. @param {string} id @returns {[string, string[]]} */
function emptyPair(id) {
  return [id, []];
}

const NAMES = ["scalar.pinned", "scalar.mixed", "scalar.no_prefix"];

/** Return the section of a chart's tag; a machine's are those of its parts. @param {string} chart */
function prefixOf(chart) {
  const from = chart.startsWith(SYSTEM) ? SYSTEM.length : 0;
  return chart.includes("/", from) ? chart.slice(0, chart.indexOf("/", from)) : NO_PREFIX;
}

/** Sort tags: losses, accuracies and the like first, then by name. @param {string[]} tags */
function inOrder(tags) {
  const sorted = [...tags].sort(byName);
  return [...sorted.filter((tag) => FIRST.test(tag)), ...sorted.filter((tag) => !FIRST.test(tag))];
}

/**
 * Return the moves of a section.
 * @param {Options["moves"]} moves
 * @param {string} id
 * @returns {import("../../core/arrangement.js").Move[]}
 */
function movesIn(moves, id) {
  return moves.filter(([, , section]) => section === id).map(([chart, before]) => [chart, before]);
}

/**
 * Move a chart before another one of a section, or to its end. The pinned section pins the chart.
 * @param {Page} page
 * @param {string} chart
 * @param {string} id of the section
 * @param {string} before "" for the end
 */
export function moveChart(page, chart, id, before) {
  const { moves, pins } = page.options();
  const unpinned = pins.filter((pin) => pin !== chart);
  const charts = new Map(sectionsOf(page).map((section) => [section.id, section.charts]));
  const next = [...new Set([...charts.keys(), id, ...moves.map(([, , section]) => section)])].flatMap(
    (section) => {
      const left = (charts.get(section) ?? []).filter((other) => other !== chart);
      const known = movesIn(moves, section).filter(([moved]) => moved !== chart);
      const after = section === id ? afterMove(left, known, chart, before) : movesOf(left, known);
      return after.map(([moved, follower]) => asChartMove(moved, follower, section));
    },
  );
  page.change({
    moves: next,
    pins: id === PINNED ? [...unpinned, chart] : unpinned,
  });
}

/**
 * Return a move of a chart.
 * @param {string} chart @param {string} before @param {string} section
 * @returns {import("../../core/arrangement.js").ChartMove}
 */
function asChartMove(chart, before, section) {
  return [chart, before, section];
}

/**
 * Move a dropped chart to the position of another one: behind it if it came from before it.
 * @param {Page} page
 * @param {string} chart
 * @param {string} target
 */
export function dropChart(page, chart, target) {
  const section = sectionsOf(page).find(({ charts }) => charts.includes(target));
  if (section) moveChart(page, chart, section.id, followerAfterDrop(section.charts, chart, target));
}

/**
 * Move a dropped section to the position of another one.
 * @param {Page} page
 * @param {string} id
 * @param {string} target
 */
export function dropSection(page, id, target) {
  const ids = sectionsOf(page).map((section) => section.id);
  const before = followerAfterDrop(ids, id, target);
  page.change({ order: afterMove(ids, page.options().order, id, before) });
}

/** Add a section, if there is none of this name. Return its id. @param {Page} page @param {string} name */
export function addSection(page, name) {
  const known = sectionsOf(page).find((section) => section.name === name || section.id === name);
  if (!known) page.change({ own: [...page.options().own, name] });
  return known?.id ?? name;
}

/** Rename a section. @param {Page} page @param {string} id @param {string} name */
export function renameSection(page, id, name) {
  const names = new Map(page.options().names);
  if (name === id) names.delete(id);
  else names.set(id, name);
  page.change({ names });
}

/** Remove a section without charts. @param {Page} page @param {string} id */
export function removeSection(page, id) {
  const { own, order, names } = page.options();
  const ids = sectionsOf(page).map((section) => section.id);
  page.change({
    own: own.filter((other) => other !== id),
    order: movesOf(
      ids.filter((other) => other !== id),
      order.filter(([other]) => other !== id),
    ),
    names: new Map([...names].filter(([other]) => other !== id)),
  });
}

/** Return whether the user has arranged cards or sections. @param {Options} options */
export function isArranged(options) {
  const { moves, hidden, spans, names, own, order } = options;
  return [moves, hidden, own, order].some(({ length }) => length) || spans.size + names.size > 0;
}
