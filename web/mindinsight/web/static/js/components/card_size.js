// Size of a card in columns and rows, changed at its corner or in its menu.

import { h } from "../core/dom.js";
import { segments } from "./button.js";

/**
 * Page whose cards have sizes: `spans` are columns and rows by key, `columns()` those of the window.
 * @typedef {Object} Page
 * @property {import("../core/types.js").App} app
 * @property {() => {spans: Map<string, [number, number]>}} options
 * @property {(some: {spans: Map<string, [number, number]>}) => void} change
 * @property {() => number} columns
 */

const COLUMNS = 4; // beyond that a card of the smallest size fills a row of 1440 px
const ROWS = 3; // fill a window of 900 px

/**
 * Return the columns and rows of a card. A window may have fewer columns.
 * @param {Page} page
 * @param {string} key
 */
export function spanOf(page, key) {
  const [columns, rows] = page.options().spans.get(key) ?? [1, 1];
  return { columns: Math.min(columns, page.columns()), rows };
}

/**
 * Let an element take this many columns and rows of its grid.
 * @param {HTMLElement} element
 * @param {{columns: number, rows: number}} span
 */
export function applySpan(element, { columns, rows }) {
  element.style.setProperty("--span-columns", String(columns));
  element.style.setProperty("--span-rows", String(rows));
}

/**
 * Change the size of a card.
 * @param {Page} page
 * @param {string} key
 * @param {number} columns
 * @param {number} rows
 */
function resize(page, key, columns, rows) {
  const spans = new Map(page.options().spans);
  if (columns * rows === 1) spans.delete(key);
  else spans.set(key, [columns, rows]);
  page.change({ spans });
}

/** Create the choices of a card's size for the card's menu. @param {Page} page @param {string} key */
export function sizeChoices(page, key) {
  const { t } = page.app;
  const size = () => page.options().spans.get(key) ?? [1, 1];
  const choice = (/** @type {0 | 1} */ at) =>
    segments({
      label: t(at ? "scalar.arrange.rows" : "scalar.arrange.columns"),
      options: Array.from({ length: at ? ROWS : COLUMNS }, (_, i) => String(i + 1)).map((value) => ({
        value,
        label: value,
      })),
      value: String(size()[at]),
      onchange: (value) => {
        const [columns, rows] = size();
        if (at) resize(page, key, columns, Number(value));
        else resize(page, key, Number(value), rows);
      },
    });
  const field = (/** @type {0 | 1} */ at) => {
    const box = choice(at);
    return h(
      "div",
      { class: "row" },
      h("span", { class: "label grow" }, box.getAttribute("aria-label")),
      box,
    );
  };
  return page.columns() > 1 ? [field(0), field(1)] : [field(1)];
}

/**
 * Create the corner by which the pointer resizes a card. The card's menu does it by keyboard.
 * @param {Page} page
 * @param {string} key
 * @param {() => HTMLElement} card
 */
export function sizeCorner(page, key, card) {
  /** Width and height of one column and row, and the size now. @type {number[] | null} */
  let drag = null;
  const onpointerdown = (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    corner.setPointerCapture(event.pointerId);
    const { columns, rows } = spanOf(page, key);
    drag = [card().offsetWidth / columns, card().offsetHeight / rows, columns, rows];
  };
  const onpointermove = (/** @type {PointerEvent} */ event) => {
    if (!drag) return;
    const { left, top } = card().getBoundingClientRect();
    const nearest = (/** @type {number} */ length, /** @type {number} */ unit, /** @type {number} */ most) =>
      Math.max(1, Math.min(most, Math.round(length / unit)));
    drag[2] = nearest(event.clientX - left, drag[0], Math.min(COLUMNS, page.columns()));
    drag[3] = nearest(event.clientY - top, drag[1], ROWS);
    applySpan(card(), { columns: drag[2], rows: drag[3] });
  };
  const onpointerup = () => {
    if (drag) resize(page, key, drag[2], drag[3]);
    drag = null;
  };
  const corner = h("div", {
    class: "size-corner",
    title: page.app.t("scalar.arrange.corner"),
    onpointerdown,
    onpointermove,
    onpointerup,
    onlostpointercapture: () => {
      drag = null;
      applySpan(card(), spanOf(page, key));
    },
  });
  return corner;
}
