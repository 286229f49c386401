// Rows of the runs table, grouped by job.

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {{job: string, runs: Run[]}} JobRow */
/** @typedef {{run: Run, under: boolean}} RunRow */
/** @typedef {JobRow | RunRow} Row */

/**
 * Return the rows: jobs at the place of their first rank, followed by their ranks in order if the job is
 * open.
 * @param {Run[]} runs sorted
 * @param {Set<string>} open jobs whose ranks are listed
 * @returns {Row[]}
 */
export function fold(runs, open) {
  /** @type {Map<string, Run[]>} */
  const jobs = new Map();
  for (const run of runs) {
    const members = jobs.get(run.job);
    if (members) members.push(run);
    else jobs.set(run.job, [run]);
  }
  /** @type {Row[]} */
  const rows = [];
  for (const [job, members] of jobs) {
    if (members.length === 1 && members[0].rank === null) {
      rows.push({ run: members[0], under: false });
      continue;
    }
    const ranks = [...members].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
    rows.push({ job, runs: ranks });
    if (open.has(job)) rows.push(...ranks.map((run) => ({ run, under: true })));
  }
  return rows;
}

/** Return a row's name. A rank below its job has the job's. @param {Row} row */
export function nameInList(row) {
  if (!("run" in row)) return row.job.slice(2) || ".";
  return row.under ? row.run.job.slice(2) || "." : row.run.name;
}

/**
 * Sort runs by a value. Pinned runs come first, runs without a value last in either direction.
 * @param {Run[]} runs
 * @param {((run: Run) => unknown) | undefined} value
 * @param {boolean} descending
 */
export function sorted(runs, value, descending) {
  if (!value) return [...runs].sort((a, b) => Number(b.pinned) - Number(a.pinned));
  const sign = descending ? -1 : 1;
  const keyed = runs.map((run) => ({ run, key: clean(value(run)) }));
  keyed.sort((a, b) => Number(b.run.pinned) - Number(a.run.pinned) || byKey(a.key, b.key, sign));
  return keyed.map(({ run }) => run);
}

/** Return a value, or null if it is missing or NaN. @param {unknown} value */
function clean(value) {
  return value === undefined || value === null || value === "" || Number.isNaN(value) ? null : value;
}

/**
 * Compare two values: numbers by size, texts in natural order, missing values last.
 * @param {unknown} a
 * @param {unknown} b
 * @param {number} sign
 */
function byKey(a, b, sign) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
}
