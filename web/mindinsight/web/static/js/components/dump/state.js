// State of the dump page in the address.

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/answers.js").DumpSummary} DumpSummary */

/**
 * @typedef {Object} State
 * @property {string} dump "./job/dump"
 * @property {number} rank
 * @property {number} step
 * @property {"tensors" | "tree" | "graph" | "check" | "compare" | "logs"} tab
 * @property {boolean} only the first fault of this rank and step, not of the whole dump
 * @property {string} q in the name of an operator
 * @property {string} type operator type
 * @property {string} dtype
 * @property {string} direction
 * @property {string} source in a line of source code
 * @property {boolean} lost NaN or infinities only
 * @property {string} by statistic that must lie between least and most
 * @property {string} least
 * @property {string} most
 * @property {string} sort
 * @property {boolean} descending
 * @property {string} graph of the chosen operator
 * @property {string} operator chosen one, as recorded
 * @property {string} tensor "output/0" of it
 */

/**
 * @typedef {Object} Page
 * @property {App} app
 * @property {State} state
 * @property {DumpSummary | null} summary
 * @property {{id: string, run: string}[]} dumps
 * @property {number} comparison
 * @property {import("./value_window.js").Look | null} look
 * @property {{dump: string, answer: import("../../core/answers.js").FirstFaults} | null} [faults] found just
 *   now
 * @property {{dump: string, check: number, common: boolean} | null} [check] the check that was run last
 * @property {boolean} asked whether the address or somebody named the step or rank that is shown
 * @property {(some: Partial<State>) => void} change
 */

/** @type {State} */
export const DEFAULTS = {
  dump: "",
  rank: 0,
  step: 0,
  tab: "tensors",
  only: false,
  q: "",
  type: "",
  dtype: "",
  direction: "",
  source: "",
  lost: false,
  by: "",
  least: "",
  most: "",
  sort: "sequence",
  descending: false,
  graph: "",
  operator: "",
  tensor: "",
};

export const FILTERS = /** @type {const} */ ([
  "q",
  "type",
  "dtype",
  "direction",
  "source",
  "lost",
  "by",
  "least",
  "most",
]);
export const STATISTICS = [
  "minimum",
  "maximum",
  "mean",
  "absolute_mean",
  "std",
  "norm",
  "zeros",
  "negative",
  "positive",
  "nans",
  "positive_infs",
  "negative_infs",
];

/** Read the state from the address. @param {App} app @returns {State} */
export function readState({ url }) {
  const entries = Object.entries(DEFAULTS).map(([key, fallback]) => {
    const text = url.get(key, null);
    if (text === null) return [key, fallback];
    if (typeof fallback === "boolean") return [key, text === "1"];
    return [key, typeof fallback === "number" ? Number(text) || 0 : text];
  });
  return Object.fromEntries(entries);
}

/**
 * Write the state to the address, without defaults.
 * @param {App} app
 * @param {State} state
 * @param {boolean} [entry] as a new entry of the browser's history
 */
export function writeState({ url }, state, entry = false) {
  /** @type {Record<string, string | number | null>} */
  const values = {};
  for (const [key, fallback] of Object.entries(DEFAULTS)) {
    const value = state[/** @type {keyof State} */ (key)];
    const text = typeof value === "boolean" ? (value ? "1" : null) : value;
    values[key] = value === fallback && key !== "dump" ? null : text;
  }
  if (entry) url.step(values);
  else url.set(values);
}

/**
 * Replace a rank that the dump lacks by its first, and a missing step by the nearest one.
 * @param {{rank: number, step: number}} state
 * @param {DumpSummary | null} summary
 */
export function settlePosition(state, summary) {
  const ranks = summary?.ranks ?? [];
  const entry = ranks.find(({ rank }) => rank === state.rank) ?? ranks[0];
  state.rank = entry?.rank ?? 0;
  if (entry && !entry.steps.includes(state.step)) state.step = nearestStep(entry.steps, state.step);
}

/**
 * Return the nearest step, the first of two equally near; 0 if there are none.
 * @param {number[]} steps
 * @param {number} step
 */
function nearestStep(steps, step) {
  const away = (/** @type {number} */ other) => Math.abs(other - step);
  return steps.reduce((best, other) => (away(other) < away(best) ? other : best), steps[0] ?? 0);
}

/**
 * Return the request parameters of a dump's rank and step.
 * @param {{dump: string, rank: number, step: number}} state
 */
export function position(state) {
  return { dump: state.dump, rank: state.rank, step: state.step };
}

/** Return the request parameters of the chosen tensor. @param {State} state */
export function tensorPlace(state) {
  const cut = state.tensor.indexOf("/");
  return {
    ...position(state),
    graph: state.graph,
    operator: state.operator,
    direction: state.tensor.slice(0, cut),
    slot: state.tensor.slice(cut + 1),
  };
}

/** Return the request parameters of the filters. @param {State} state */
export function filters(state) {
  const entries = FILTERS.map((key) => [key, state[key] === "" || state[key] === false ? null : state[key]]);
  /** @type {import("../../core/types.js").Parameters} */
  const params = Object.fromEntries(entries);
  if (!state.by || (state.least === "" && state.most === "")) {
    Object.assign(params, { by: null, least: null, most: null });
  }
  return params;
}
