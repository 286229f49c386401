// Curves mode: pinned and combined charts first, then a section per prefix. Cards are in the page only near
// the window; elsewhere a section is a few empty blocks of the same height.

import { h, replace } from "../../core/dom.js";
import { whenNear } from "../../core/lazy_work.js";
import { commonStart } from "../../core/names.js";
import { byName } from "../../core/run_list.js";
import { curveCard } from "./card.js";
import { chartTitle, FORMULA } from "./options.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {ReturnType<typeof curveCard>} Card */
/** @typedef {{name: string, charts: string[][]}} Section tags of each chart */
/** @typedef {{element: HTMLElement, fill: () => void, end: () => void}} Block */

const FIRST = /loss|acc|metric|error|perplexity|reward/i;
const BLOCK = 24; // cards that come and go together, in whole rows
const KEPT = 240; // cards that are kept with their curves when they are far away

/** Create the mode. @param {Page} page @param {string[]} tags @returns {import("./mode_view.js").Part} */
export function curvesView(page, tags) {
  const cards = createCards(page);
  const order = inOrder(page.tags);
  /** By name. @type {Map<string, ReturnType<typeof createSection>>} */
  const sections = new Map();
  /** @param {string[]} passing */
  const arrange = (passing) => {
    const found = new Set(passing);
    const groups = chartGroups(
      page,
      order.filter((tag) => found.has(tag)),
    );
    const columns = page.columns();
    const names = new Set(groups.map(({ name }) => name));
    sections.forEach((section, name) => names.has(name) || section.show([], columns));
    const elements = groups.map(({ name, charts }) => {
      const section = sections.get(name) ?? createSection(page, name, cards);
      sections.set(name, section);
      section.show(charts, columns);
      return groups.length > 1 ? section.folding() : section.blocks();
    });
    sections.get(groups[0]?.name)?.fill(); // what is in the window at first waits for no observer
    return elements.flat();
  };
  return {
    element: arrange(tags),
    show: arrange,
    load: () => cards.all().forEach((card) => card.load()),
    update: (runs) => cards.all().forEach((card) => card.update(runs)),
    paint: () => cards.all().forEach((card) => card.paint()),
    end() {
      sections.forEach((section) => section.show([], 1));
      cards.all().forEach((card) => card.end());
    },
  };
}

/** Create the cache of cards. Of many, only the newest stay after they left the page. @param {Page} page */
function createCards(page) {
  /** @type {Map<string, Card>} */
  const known = new Map();
  return {
    all: () => [...known.values()],
    /** @param {string[]} together tags of one chart */
    of(together) {
      const key = together.join("|");
      const card = known.get(key) ?? curveCard(page, together);
      known.set(key, card);
      return card;
    },
    /** Cards have left the page; of many, only the newest are kept. @param {Card[]} left */
    left(left) {
      if (known.size <= KEPT) return;
      left.forEach((card) => (card.end(), known.delete(card.key)));
    },
  };
}

/**
 * Create a section of charts.
 * @param {Page} page
 * @param {string} name
 * @param {ReturnType<typeof createCards>} cards
 */
function createSection(page, name, cards) {
  const count = h("span", { class: "badge" });
  const folded = () => page.options().folds.includes(name);
  const ontoggle = () => {
    if (element.open !== folded()) return;
    const others = page.options().folds.filter((other) => other !== name);
    page.change({ folds: element.open ? others : [...others, name] });
  };
  const element = h(
    "details",
    { class: "group", open: !folded(), ontoggle },
    h("summary", null, name, count),
  );
  /** @type {Block[]} */
  let blocks = [];
  let shown = "";
  const elements = () => blocks.map((block) => block.element);
  return {
    /** Show these charts, in blocks of whole rows. @param {string[][]} charts @param {number} columns */
    show(charts, columns) {
      const size = columns * Math.ceil(BLOCK / columns);
      const next = JSON.stringify([charts, charts.length > size && size]);
      if (next === shown) return;
      shown = next;
      blocks.forEach((block) => block.end());
      const start = commonStart(charts.map(chartTitle));
      blocks = Array.from({ length: Math.ceil(charts.length / size) }, (_, i) =>
        createBlock(cards, charts.slice(i * size, (i + 1) * size), { columns, start }),
      );
      count.textContent = String(charts.length);
      element.classList.toggle("alone", charts.length === 1);
    },
    fill: () => blocks[0]?.fill(),
    /** The section with its name. */
    folding() {
      if (blocks.some((block) => block.element.parentElement !== element)) {
        replace(element, element.firstElementChild, elements());
      }
      return element;
    },
    blocks: elements,
  };
}

/**
 * Create a block of cards, which is empty while it is far from the window.
 * @param {ReturnType<typeof createCards>} cards
 * @param {string[][]} charts
 * @param {{columns: number, start: string}} options `start`: what all titles of the section begin with
 * @returns {Block}
 */
function createBlock(cards, charts, { columns, start }) {
  const element = h("div", { class: "cards far", style: { "--rows": Math.ceil(charts.length / columns) } });
  /** @type {Card[]} */
  let shown = [];
  const fill = () => {
    if (shown.length) return;
    shown = charts.map((tags) => cards.of(tags));
    shown.forEach((card) => card.element.shorten(start));
    replace(
      element,
      shown.map((card) => card.element),
    );
    element.classList.remove("far");
    element.style.minHeight = "";
    queueMicrotask(() => shown.forEach((card) => card.enter())); // once they are in the page
  };
  const empty = () => {
    const left = shown;
    shown = [];
    element.classList.add("far");
    element.replaceChildren();
    cards.left(left);
  };
  const near = whenNear(element, fill, () => {
    const used =
      element.contains(document.activeElement) ||
      shown.some(({ element: { parentElement } }) => parentElement !== element);
    if (!shown.length || used) return; // somebody is in it, or one of its cards fills the window
    element.style.minHeight = `${element.offsetHeight}px`;
    empty();
    near.ask();
  });
  near.ask();
  return {
    element,
    fill,
    end: () => (near.end(), shown.length && empty()),
  };
}

/**
 * Return the sections with the tags of each chart.
 * @param {Page} page
 * @param {string[]} tags in order
 * @returns {Section[]}
 */
function chartGroups(page, tags) {
  const { t } = page.app;
  const { pins, mixes } = page.options();
  const tagsThere = new Set(page.tags);
  const pinned = pins
    .map((pin) => pin.split("|"))
    .filter((chart) => chart.every((tag) => tagsThere.has(tag) || tag.startsWith(FORMULA)));
  const mixed = mixes.filter((mix) => !pins.includes(mix.join("|")));
  const unpinned = tags.filter((tag) => !pins.includes(tag));
  const chosen = [
    { name: t("scalar.pinned"), charts: pinned },
    { name: t("scalar.mixed"), charts: mixed },
  ];
  return [...chosen.filter(({ charts }) => charts.length), ...byPrefix(unpinned, t("scalar.no_prefix"))];
}

/** Group tags by their prefix. @param {string[]} tags @param {string} none @returns {Section[]} */
function byPrefix(tags, none) {
  /** @type {Map<string, string[][]>} */
  const groups = new Map();
  for (const tag of tags) {
    const prefix = tag.includes("/") ? tag.slice(0, tag.indexOf("/")) : none;
    const charts = groups.get(prefix);
    if (charts) charts.push([tag]);
    else groups.set(prefix, [[tag]]);
  }
  return [...groups].map(([name, charts]) => ({ name, charts }));
}

/** Sort tags: losses, accuracies and the like first, then by name. @param {string[]} tags */
function inOrder(tags) {
  const sorted = [...tags].sort(byName);
  return [...sorted.filter((tag) => FIRST.test(tag)), ...sorted.filter((tag) => !FIRST.test(tag))];
}
