// Rows of the checkpoint tables: filter, order and CSV.

import { infinities } from "../../components/dump/rows.js";

/** @typedef {import("../../core/answers.js").SavedRow} SavedRow */
/** @typedef {import("./state.js").State} State */

/** Name of the order of a timeline by the largest change of each weight. */
export const LARGEST = "largest";

/**
 * Return the number of non-finite elements of a tensor; 0 while they are not counted.
 * @param {SavedRow} row
 */
export function nonFinite({ statistics }) {
  if (!statistics) return 0;
  return (statistics.nans ?? 0) + (infinities(statistics) ?? 0);
}

/** Return the number of checkpoints in which a tensor has non-finite elements. @param {SavedRow} row */
export function brokenCells(row) {
  return (row.non_finite ?? []).filter((count) => count).length;
}

/** Return whether a weight is the same in all checkpoints of a timeline. @param {SavedRow} row */
export function isFrozen({ states = [] }) {
  const compared = states.filter((state) => state !== "start" && state !== "absent");
  return compared.length > 0 && compared.every((state) => state === "unchanged");
}

/** Return a change, or "inf", as a number; NaN if unknown. @param {number | string | null} change */
export function numberOf(change) {
  return change === null ? NaN : Number(change === "inf" ? Infinity : change);
}

/** Return the known changes of a tensor from checkpoint to checkpoint. @param {SavedRow} row */
export function changesOf({ states = [], changes = [] }) {
  return changes
    .filter((_, at) => states[at] === "changed")
    .map(numberOf)
    .filter((change) => change > 0);
}

/**
 * Return a number by which differences are ordered: non-finite elements, first those of one file alone, then
 * what has no relative change, such as another shape, then the relative change. Equal tensors are last.
 * @param {SavedRow} row
 */
function differenceWeight({ state, measures, non_finite_elements: broken }) {
  if (broken) return measures?.apart ? Infinity : Number.MAX_VALUE;
  if (state === "unchanged" || state === "bits") return -1;
  const change = numberOf(measures?.relative_distance ?? null);
  return Number.isFinite(change) ? change : Number.MAX_VALUE / 2;
}

/**
 * What a row of each table has to say.
 * @type {Record<State["mode"], {lost: (row: SavedRow) => number, unchanged: (row: SavedRow) => boolean,
 *   weight: (row: SavedRow) => number}>}
 */
const KINDS = {
  tensors: { lost: nonFinite, unchanged: () => false, weight: nonFinite },
  compare: {
    lost: (row) => row.non_finite_elements ?? 0,
    unchanged: ({ state }) => state === "unchanged" || state === "bits",
    weight: differenceWeight,
  },
  timeline: {
    lost: brokenCells,
    unchanged: isFrozen,
    weight: brokenCells,
  },
};

/**
 * Return the functions by which the rows of a mode are filtered and ordered: non-finite elements, unchanged,
 * weight.
 * @param {State["mode"]} mode
 */
export function kindOf(mode) {
  return KINDS[mode];
}

/**
 * Return a row's value in a column; null if it is missing.
 * @param {SavedRow} row
 * @param {string} key
 * @returns {number | string | null}
 */
export function valueOf(row, key) {
  if (key === "infs") return infinities(row.statistics);
  if (key === LARGEST) return row.weight ? Math.max(0, ...changesOf(row)) : null;
  const own = /** @type {Record<string, number | string | undefined>} */ (/** @type {unknown} */ (row))[key];
  return own ?? row.statistics?.[key] ?? row.measures?.[key] ?? null;
}

/**
 * Return the rows that pass the filters, sorted by the chosen column. Without one, rows with non-finite
 * elements come first.
 * @template {SavedRow} R
 * @param {R[]} rows
 * @param {State} state
 * @returns {R[]}
 */
export function shownRows(rows, state) {
  const kind = kindOf(state.mode);
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const passed = rows.filter(
    (row) =>
      words.every((word) => row.name.toLowerCase().includes(word)) &&
      (!state.unchanged || kind.unchanged(row)) &&
      (!state.only || state.mode !== "compare" || row.state === state.only) &&
      (!state.lost || kind.lost(row) > 0),
  );
  if (!state.sort) return passed.sort((a, b) => kind.weight(b) - kind.weight(a) || 0); // of two Infinity 0
  return passed.sort((a, b) => compare(valueOf(a, state.sort), valueOf(b, state.sort), state.descending));
}

/**
 * Compare two values for sorting. Missing values come last; "inf" and "nan" are numbers given as text.
 * @param {number | string | null} a
 * @param {number | string | null} b
 * @param {boolean} down
 */
function compare(a, b, down) {
  const missing = Number(a === null) - Number(b === null);
  if (missing || a === null) return missing;
  const numbers = [a, b].map((value) =>
    Number(value === "inf" ? Infinity : value === "-inf" ? -Infinity : value),
  );
  const order = numbers.some(Number.isNaN)
    ? String(a).localeCompare(String(b), undefined, { numeric: true })
    : numbers[0] - numbers[1];
  return down ? -order : order;
}

/**
 * Return rows as CSV (RFC 4180). Texts that a spreadsheet would run as a formula, or that begin with an
 * apostrophe, get a leading apostrophe, as those of the server do (`texts.plain_text`).
 * @param {unknown[][]} rows
 */
export function csv(rows) {
  const cell = (/** @type {unknown} */ value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const formula = typeof value === "string" && /^[=+@\t\r\n'-]/.test(text) && Number.isNaN(Number(text));
    const safe = formula ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
