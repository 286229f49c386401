// Pages of the tensor table, requested as they are scrolled to and again while statistics are computed.

import { latest } from "../../core/latest.js";
import { filters, position } from "../../components/dump/state.js";

/** @typedef {import("../../core/answers.js").TensorRows} TensorRows */
/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../dump.js").Page} Page */

const PAGE = 200;
const COUNTING = 800; // ms between questions while statistics are counted
const FOLLOWING = 5000; // and while somebody may still be writing

/**
 * Create a cache of the pages of a dump's tensors, requested as their rows come into sight. `row(index)`
 * returns a row, or undefined while its page is being requested; `restart()` drops all pages after another
 * filter or order was chosen.
 * @param {Page} page
 * @param {{first: () => number, show: () => void, fail: (error: Failure) => unknown}} table `first`: index
 *   of the
 *   first row in sight
 */
export function tensorPages({ app, state }, { first, show, fail }) {
  /** @type {Map<number, Tensor[]>} */
  let pages = new Map();
  /** Numbers of the pages under way; another set for each new choice. @type {Set<number>} */
  let pending = new Set();
  /** @type {Omit<TensorRows, "rows" | "offset">} */
  let answer = { all: 0, measured: 0, done: false, total: 0, types: [], dtypes: [], damage: [] };
  const requests = latest();

  /** @param {number} number */
  const fetchPage = (number) => {
    if (pending.has(number)) return undefined;
    const numbers = pending;
    numbers.add(number);
    const params = {
      ...position(state),
      ...filters(state),
      sort: state.sort,
      descending: state.descending,
      offset: number * PAGE,
      limit: PAGE,
    };
    return requests.join(
      (signal) => app.api.get("v2/dump/tensors", params, { signal }).finally(() => numbers.delete(number)),
      (response) => {
        answer = response;
        pages.set(number, response.rows);
        show();
      },
      fail,
    );
  };

  /** Fetch the pages in sight again, now and while there is more to come; rows stay until then. */
  const refresh = () => {
    const visible = Math.floor(first() / PAGE);
    for (const number of [...pages.keys()]) if (Math.abs(number - visible) > 1) pages.delete(number);
    const numbers = [visible, visible + 1].filter((n) => n === visible || n * PAGE < answer.total);
    return requests.join(
      () => Promise.all(numbers.map(fetchPage)),
      () => requests.later(refresh, answer.done ? FOLLOWING : COUNTING),
    );
  };

  /** Drop what is under way. */
  const forget = () => {
    requests.end();
    pending = new Set();
  };

  return {
    answer: () => answer,
    /** The row at a place; its page is fetched when it is not there. @param {number} index */
    row(index) {
      const number = Math.floor(index / PAGE);
      const row = pages.get(number)?.[index % PAGE];
      if (!row) fetchPage(number);
      return row;
    },
    again: refresh,
    /** Start anew: something else was chosen. */
    restart() {
      forget();
      pages = new Map();
      refresh();
    },
    end: forget,
  };
}
