// Mode of curves: pinned and mixed charts on top, then one section per prefix of tags.

import { shortenTitles } from "../../components/card.js";
import { h } from "../../core/dom.js";
import { curveCard } from "./card.js";

/** @typedef {import("./card.js").Page} Page */

const FIRST = /loss|acc|metric|error|perplexity|reward/i;

/** @param {Page} page @param {string[]} tags @returns {import("./mode_view.js").Part} */
export function curvesView(page, tags) {
  const groups = chartGroups(page, tags).map(([name, charts]) => ({
    name,
    cards: charts.map((together) => curveCard(page, together)),
  }));
  const cards = groups.flatMap((group) => group.cards);
  return {
    element: groups.map((group) => section(group.name, group.cards, groups.length > 1)),
    load: () => cards.forEach((card) => card.load()),
    update: (runs) => cards.forEach((card) => card.update(runs)),
    paint: () => cards.forEach((card) => card.paint()),
    end: () => cards.forEach((card) => card.end()),
  };
}

/**
 * @param {string} name
 * @param {ReturnType<typeof curveCard>[]} cards
 * @param {boolean} folding whether it can be folded away
 */
function section(name, cards, folding) {
  const elements = cards.map((card) => card.element);
  shortenTitles(elements);
  const grid = h("div", { class: "cards" }, elements);
  if (!folding) return grid;
  return h(
    "details",
    { class: cards.length === 1 ? "group alone" : "group", open: true },
    h("summary", null, name, h("span", { class: "badge" }, cards.length)),
    grid,
  );
}

/**
 * Names of the sections, and for each of their charts the tags that share it.
 * @param {Page} page
 * @param {string[]} tags
 * @returns {[string, string[][]][]}
 */
function chartGroups(page, tags) {
  const { t } = page.app;
  const { pins, mixes } = page.options();
  const pinned = pins
    .map((pin) => pin.split("|"))
    .filter((chart) => chart.every((tag) => page.tags.includes(tag)));
  const mixed = mixes.filter((mix) => !pins.includes(mix.join("|")));
  const unpinned = tags.filter((tag) => !pins.includes(tag));
  /** @type {[string, string[][]][]} */
  const named = [
    [t("scalar.pinned"), pinned],
    [t("scalar.mixed"), mixed],
  ];
  return [...named.filter(([, charts]) => charts.length), ...byPrefix(unpinned, t("scalar.no_prefix"))];
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
