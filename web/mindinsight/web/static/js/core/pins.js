// Pins: a card or a page in a report. A pin holds the address; a frozen pin also holds the content shown.

import { capture } from "./capture.js";
import { encodeFigure, colourNames } from "./frozen_figures.js";
import { encodeTree } from "./frozen_tree.js";

/** @typedef {import("./types.js").App} App */
/**
 * @typedef {Object} Pin
 * @property {string} view
 * @property {string} query
 * @property {string} card its title; "" for the whole page
 * @property {number} position among the cards of its title
 * @property {string} [frozen] JSON
 */

export const PATH = "v2/reports";

/** Return the cards with a title, in page order. @param {Element} root @param {string} title */
export function cardsNamed(root, title) {
  return [...root.querySelectorAll(".card")].filter((card) => card.getAttribute("aria-label") === title);
}

/**
 * Create the pin of a card, or of the whole page if `card` is null.
 * @param {App} app
 * @param {Element | null} card
 * @param {boolean} frozen whether it keeps what is shown now
 * @returns {Promise<Pin>}
 */
export async function pinOf(app, card, frozen) {
  const root = /** @type {HTMLElement} */ (document.getElementById("view"));
  const title = card?.getAttribute("aria-label") ?? "";
  const pin = {
    view: app.router.current(),
    query: queryOf(location.search, app.selection.asText()),
    card: title,
    position: card ? Math.max(0, cardsNamed(root, title).indexOf(card)) : 0,
  };
  return frozen ? { ...pin, frozen: await freeze(app, card ?? root) } : pin;
}

/**
 * Return a page's query with the shown runs added, so that a report keeps these runs when newer runs appear.
 * @param {string} search
 * @param {string} runs as an address has them
 */
export function queryOf(search, runs) {
  const params = new URLSearchParams(search);
  if (!params.has("runs")) params.set("runs", runs);
  return params.toString();
}

/** Encode the current content of an element as JSON. @param {App} app @param {Element} element */
export async function freeze(app, element) {
  const { copy, figures } = await capture(app, element);
  const names = colourNames((name) => app.theme.colour(name));
  return JSON.stringify({
    tree: encodeTree(copy, names),
    figures: figures.map((figure) => encodeFigure(figure, names)),
    legend: legendOf(app).map(({ name, colour }) => ({ name, colour: names.get(colour) ?? colour })),
    at: Date.now() / 1000,
  });
}

/**
 * Return the names and colours of the shown runs.
 * @param {App} app
 * @returns {{name: string, colour: string}[]}
 */
export function legendOf({ selection, t }) {
  const folded = selection.folded();
  const ranks = (/** @type {string} */ job) =>
    selection.runs().flatMap((run) => (run.job === job ? [run.rank] : []));
  return selection.entries().map((run) => ({
    name: folded.has(run.job)
      ? t("reports.job", { job: run.job.slice(2), ranks: ranks(run.job).join(", ") })
      : run.name,
    colour: selection.colour(run.id),
  }));
}
