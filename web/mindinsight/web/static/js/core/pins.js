// Pins: what a report keeps of a card, or of a whole page: its address, and for a frozen one what it shows.

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

/** The cards of a page with this title, from top to bottom. @param {Element} root @param {string} title */
export function cardsNamed(root, title) {
  return [...root.querySelectorAll(".card")].filter((card) => card.getAttribute("aria-label") === title);
}

/**
 * The pin of a card on the page that is shown, or of the page itself.
 * @param {App} app @param {Element | null} card @param {boolean} frozen whether it keeps what is shown now
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
 * The query of a page with its runs by name: a report shows the same ones when newer have come.
 * @param {string} search @param {string} runs as an address has them
 */
export function queryOf(search, runs) {
  const params = new URLSearchParams(search);
  if (!params.has("runs")) params.set("runs", runs);
  return params.toString();
}

/** What an element shows, as JSON. @param {App} app @param {Element} element */
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

/** The names and colours of the shown runs. @param {App} app @returns {{name: string, colour: string}[]} */
export function legendOf({ selection }) {
  const folded = selection.folded();
  return selection.entries().map((run) => ({
    name: folded.has(run.job) ? run.job.slice(2) : run.name,
    colour: selection.colour(run.id),
  }));
}
