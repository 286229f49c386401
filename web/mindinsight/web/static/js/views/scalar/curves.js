// Curves mode: pinned and combined charts first, then a section per prefix. Cards are in the page only near
// the window; elsewhere a section is a few empty blocks of the same height.

import { draggable, dropTarget } from "../../components/movable.js";
import { h, replace } from "../../core/dom.js";
import { whenNear } from "../../core/lazy_work.js";
import { commonStart } from "../../core/names.js";
import { sectionButton } from "./arrange_menu.js";
import { curveCard } from "./card.js";
import { spanOf } from "../../components/card_size.js";
import { manyRunsNote } from "./highlight.js";
import { chartTitle } from "./options.js";
import { CARD, dropSection, moveChart, sectionsOf } from "./sections.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {ReturnType<typeof curveCard>} Card */
/** @typedef {import("./sections.js").Section} Section */
/** @typedef {{element: HTMLElement, fill: () => void, isFilled: () => boolean, end: () => void}} Block */

const BLOCK = 24; // cards that come and go together, in whole rows
const KEPT = 240; // cards that are kept with their curves when they are far away
const SECTION = "section"; // what is dragged

/**
 * Create the Curves mode of the scalars page: a card for each chart, in sections.
 * @param {Page} page
 * @param {string[]} tags
 * @returns {import("./mode_view.js").Part}
 */
export function curvesView(page, tags) {
  const cards = createCards(page);
  const note = manyRunsNote(page);
  /** By id. @type {Map<string, ReturnType<typeof createSection>>} */
  const sections = new Map();
  /** @param {string[]} passing */
  const arrange = (passing) => {
    const groups = shownSections(page, passing);
    const ids = new Set(groups.map(({ id }) => id));
    sections.forEach((section, id) => ids.has(id) || section.show({ id, name: "", charts: [] }));
    const elements = groups.map((group) => {
      const section = sections.get(group.id) ?? createSection(page, group.id, cards);
      sections.set(group.id, section);
      section.show(group);
      return groups.length > 1 ? section.folding() : section.blocks();
    });
    sections.get(groups[0]?.id)?.fill(); // what is in the window at first waits for no observer
    const none = h("p", { class: "muted" }, page.app.t("scalar.arrange.all_hidden"));
    note.show();
    return [note.element, ...(groups.length ? elements.flat() : [none])];
  };
  return {
    element: arrange(tags),
    show: arrange,
    load: () => (note.show(), cards.all().forEach((card) => card.load())),
    update: (runs) => cards.all().forEach((card) => card.update(runs)),
    paint: () => (note.show(), cards.all().forEach((card) => card.paint())),
    end() {
      sections.forEach((section, id) => section.show({ id, name: "", charts: [] }));
      cards.all().forEach((card) => card.end());
    },
  };
}

/**
 * Return the sections with those of their charts that are shown. The filter is about tags that are neither
 * pinned nor added.
 * @param {Page} page
 * @param {string[]} passing
 * @returns {Section[]}
 */
function shownSections(page, passing) {
  const { pins, mixes, hidden, own, filter } = page.options();
  const shown = new Set([...passing, ...pins, ...mixes.map((tags) => tags.join("|"))]);
  hidden.forEach((chart) => shown.delete(chart));
  return sectionsOf(page)
    .map((section) => ({ ...section, charts: section.charts.filter((chart) => shown.has(chart)) }))
    .filter(({ id, charts }) => charts.length || (own.includes(id) && !filter));
}

/** Create the cache of cards. Of many, only the newest stay after they left the page. @param {Page} page */
function createCards(page) {
  /** @type {Map<string, Card>} */
  const known = new Map();
  return {
    all: () => [...known.values()],
    /** @param {string} key */
    of(key) {
      const card = known.get(key) ?? curveCard(page, key.split("|"));
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
 * @param {string} id
 * @param {ReturnType<typeof createCards>} cards
 */
function createSection(page, id, cards) {
  const title = h("span");
  const count = h("span", { class: "badge" });
  const folded = () => page.options().folds.includes(id);
  const ontoggle = () => {
    if (element.open !== folded()) return;
    const others = page.options().folds.filter((other) => other !== id);
    page.change({ folds: element.open ? others : [...others, id] });
  };
  const summary = h("summary", null, title, count);
  draggable(summary, SECTION, id);
  dropTarget(summary, SECTION, (dragged) => dropSection(page, dragged, id));
  dropTarget(summary, CARD, (dragged) => moveChart(page, dragged, id, ""));
  const element = h("details", { class: "group", open: !folded(), ontoggle }, summary);
  const head = [summary, sectionButton(page, id)];
  const empty = h("p", { class: "muted small" }, page.app.t("scalar.arrange.empty"));
  /** @type {Block[]} */
  let blocks = [];
  let shown = "";
  const elements = () => blocks.map((block) => block.element);
  return {
    /** Show a section's charts, in blocks of whole rows. @param {Section} section */
    show({ name, charts }) {
      replace(title, name);
      const columns = page.columns();
      const size = columns * Math.ceil(BLOCK / columns);
      const spans = charts.map((chart) => spanOf(page, chart));
      const next = JSON.stringify([charts, charts.length > size && size, spans]);
      if (next === shown) return;
      shown = next;
      const filled = blocks.map((block) => block.isFilled());
      blocks.forEach((block) => block.end());
      const start = commonStart(charts.map((chart) => chartTitle(page.app.t, chart.split("|"))));
      const cells = spans.map((span) => span.columns * span.rows);
      blocks = inBlocks(charts, cells, size).map((members) =>
        createBlock(cards, members.charts, { rows: Math.ceil(members.cells / columns), start }),
      );
      blocks.forEach((block, i) => filled[i] && block.fill()); // what was in the window stays there
      count.textContent = String(charts.length);
      element.classList.toggle("alone", charts.length === 1 && cells[0] === 1);
    },
    fill: () => blocks[0]?.fill(),
    /** The section with its name. */
    folding() {
      if (!blocks.length || blocks.some((block) => block.element.parentElement !== element)) {
        replace(element, head, blocks.length ? elements() : empty);
      }
      return element;
    },
    blocks: elements,
  };
}

/**
 * Split charts into blocks of about `size` cells of the grid.
 * @param {string[]} charts
 * @param {number[]} cells of each chart
 * @param {number} size
 */
export function inBlocks(charts, cells, size) {
  /** @type {{charts: string[], cells: number}[]} */
  const blocks = [];
  charts.forEach((chart, i) => {
    let block = blocks.at(-1);
    if (!block || block.cells >= size) blocks.push((block = { charts: [], cells: 0 }));
    block.charts.push(chart);
    block.cells += cells[i];
  });
  return blocks;
}

/**
 * Create a block of cards, which is empty while it is far from the window.
 * @param {ReturnType<typeof createCards>} cards
 * @param {string[]} charts
 * @param {{rows: number, start: string}} options `start`: what all titles of the section begin with
 * @returns {Block}
 */
function createBlock(cards, charts, { rows, start }) {
  const element = h("div", { class: "cards far", style: { "--rows": rows } });
  /** @type {Card[]} */
  let shown = [];
  const fill = () => {
    if (shown.length) return;
    shown = charts.map(cards.of);
    shown.forEach((card) => card.arrange(start));
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
    isFilled: () => shown.length > 0,
    end: () => (near.end(), shown.length && empty()),
  };
}
