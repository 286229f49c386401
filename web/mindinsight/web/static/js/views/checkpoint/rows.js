// Rows of the checkpoint tables: filter, order and CSV.

/** @typedef {import("./state.js").State} State */

/** Return the number of non-finite elements of a tensor; 0 while they are not counted. @param {any} row */
export function nonFinite({ statistics }) {
  return statistics ? statistics.nans + statistics.positive_infs + statistics.negative_infs : 0;
}

/** Return the number of checkpoints in which a tensor has non-finite elements. @param {any} row */
export function brokenCells(row) {
  return row.non_finite.filter((/** @type {number | null} */ count) => count).length;
}

/** Return whether a weight is the same in all checkpoints of a timeline. @param {any} row */
export function isFrozen({ states }) {
  const compared = states.filter((/** @type {string} */ state) => state !== "start" && state !== "absent");
  return compared.length > 0 && compared.every((/** @type {string} */ state) => state === "unchanged");
}

/** What a row of each table has to say. */
const KINDS = {
  tensors: { lost: nonFinite, unchanged: () => false, weight: nonFinite },
  compare: {
    lost: (/** @type {any} */ row) => row.measures?.apart ?? 0,
    unchanged: (/** @type {any} */ row) => row.state === "unchanged",
    weight: (/** @type {any} */ row) => (row.state === "unchanged" ? -1 : (row.measures?.apart ?? 0)),
  },
  timeline: {
    lost: brokenCells,
    unchanged: isFrozen,
    weight: brokenCells,
  },
};

/** Return how rows of a mode are filtered and ordered. @param {State["mode"]} mode */
export function kindOf(mode) {
  return KINDS[mode];
}

/**
 * Return a row's value in a column; null if it is missing.
 * @param {any} row
 * @param {string} key
 * @returns {any}
 */
export function valueOf(row, key) {
  if (key === "infs") return row.statistics && row.statistics.positive_infs + row.statistics.negative_infs;
  return row[key] ?? row.statistics?.[key] ?? row.measures?.[key] ?? null;
}

/**
 * Return the rows that pass the filters, sorted by the chosen column. Without one, rows with non-finite
 * elements come first.
 * @template {{name: string}} R
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
      (!state.lost || kind.lost(row) > 0),
  );
  if (!state.sort) return passed.sort((a, b) => kind.weight(b) - kind.weight(a));
  return passed.sort((a, b) => compare(valueOf(a, state.sort), valueOf(b, state.sort), state.descending));
}

/**
 * Compare two values for sorting. Missing values come last; "inf" and "nan" are numbers given as text.
 * @param {any} a
 * @param {any} b
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
 * Return rows as CSV (RFC 4180). Texts that a spreadsheet would run as a formula get a leading apostrophe.
 * @param {any[][]} rows
 */
export function csv(rows) {
  const cell = (/** @type {any} */ value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const formula = typeof value === "string" && /^[=+@\t\r\n-]/.test(text) && Number.isNaN(Number(text));
    const safe = formula ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
