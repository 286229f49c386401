// The table of tensors page by page, as it is scrolled to and again while statistics are counted.

import { filters, place } from "./state.js";

/** @typedef {import("../dump.js").Page} Page */

const PAGE = 200;
const COUNTING = 800; // ms between questions while statistics are counted
const FOLLOWING = 5000; // and while somebody may still be writing

/**
 * @param {Page} page
 * @param {{first: () => number, show: () => void, fail: (error: any) => void}} table `first`: index of the
 *   first row in sight
 */
export function tensorPages({ app, state }, { first, show, fail }) {
  /** @type {Map<number, any[]>} */
  let pages = new Map();
  /** Pages that are asked for; another set for each new choice. @type {Set<number>} */
  let asked = new Set();
  let answer = { all: 0, measured: 0, done: false, total: 0, types: [], dtypes: [], damage: [] };
  let aborter = new AbortController();
  let timer = 0;

  /** @param {number} number */
  async function fetchPage(number) {
    if (asked.has(number)) return;
    const mine = asked;
    mine.add(number);
    const { signal } = aborter;
    try {
      const params = {
        ...place(state),
        ...filters(state),
        sort: state.sort,
        descending: state.descending,
        offset: number * PAGE,
        limit: PAGE,
      };
      const found = await app.api.get("v2/dump/tensors", params, { signal });
      if (mine !== asked) return; // something else was chosen meanwhile
      answer = found;
      pages.set(number, found.rows);
      show();
    } catch (/** @type {any} */ error) {
      if (mine === asked && !app.api.aborted(error)) fail(error);
    } finally {
      mine.delete(number);
    }
  }

  /** Ask again for what is seen; what was known stays until the answer is there. */
  const again = async () => {
    clearTimeout(timer);
    const mine = asked;
    const seen = Math.floor(first() / PAGE);
    for (const number of [...pages.keys()]) if (Math.abs(number - seen) > 1) pages.delete(number);
    await Promise.all(
      [seen, seen + 1].filter((number) => number === seen || number * PAGE < answer.total).map(fetchPage),
    );
    if (mine !== asked) return;
    clearTimeout(timer);
    timer = window.setTimeout(again, answer.done ? FOLLOWING : COUNTING);
  };

  /** Nothing that was asked before is shown any more. */
  const forget = () => {
    aborter.abort();
    aborter = new AbortController();
    asked = new Set();
    clearTimeout(timer);
  };

  return {
    answer: () => answer,
    /** The row at a place; it is asked for when it is not there. @param {number} index */
    row(index) {
      const number = Math.floor(index / PAGE);
      const found = pages.get(number)?.[index % PAGE];
      if (!found) fetchPage(number);
      return found;
    },
    again,
    /** Start anew: something else was chosen. */
    restart() {
      forget();
      pages = new Map();
      again();
    },
    end: forget,
  };
}
