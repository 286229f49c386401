// Mode of curves: pinned and mixed charts on top, then one section per prefix of tags.

import { shortenTitles } from "../../components/card.js";
import { h } from "../../core/dom.js";
import { curveCard } from "./card.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {ReturnType<typeof curveCard>} Card */

const FIRST = /loss|acc|metric|error|perplexity|reward/i;

/** @param {Page} page @param {string[]} tags @returns {import("./mode_view.js").Part} */
export function curvesView(page, tags) {
  /** Every card that was ever shown, by its tags. @type {Map<string, Card>} */
  const known = new Map();
  /** @type {Set<Card>} */
  let shown = new Set();
  /** @param {string[]} together tags of one chart */
  const cardOf = (together) => {
    const key = together.join("|");
    const card = known.get(key) ?? curveCard(page, together);
    known.set(key, card);
    return card;
  };
  /** @param {string[]} passing */
  const arrange = (passing) => {
    const groups = chartGroups(page, passing).map(([name, charts]) => ({ name, cards: charts.map(cardOf) }));
    shown = new Set(groups.flatMap((group) => group.cards));
    return groups.map((group) => section(group.name, group.cards, groups.length > 1));
  };
  const element = arrange(tags);
  return {
    element,
    show(passing) {
      const before = shown;
      const elements = arrange(passing);
      // once they are in the page
      queueMicrotask(() => shown.forEach((card) => before.has(card) || card.enter()));
      return elements;
    },
    load: () => known.forEach((card) => card.load()),
    update: (runs) => known.forEach((card) => card.update(runs)),
    paint: () => known.forEach((card) => card.paint()),
    end: () => known.forEach((card) => card.end()),
  };
}

/**
 * @param {string} name
 * @param {Card[]} cards
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
