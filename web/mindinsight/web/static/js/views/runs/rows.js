// Rows of the runs table: filtered, sorted, and folded under their jobs.

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {{job: string, runs: Run[]}} JobRow */
/** @typedef {{run: Run, under: boolean}} RunRow */
/** @typedef {JobRow | RunRow} Row */

/**
 * Jobs come where the first of their ranks comes; ranks stay in order of rank under them.
 * @param {Run[]} runs sorted @param {Set<string>} open jobs whose ranks are listed
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

/** Name of a row as it is read; a rank below its job has its job's. @param {Row} row */
export function nameInList(row) {
  if (!("run" in row)) return row.job.slice(2) || ".";
  return row.under ? row.run.job.slice(2) || "." : row.run.name;
}

/**
 * A pinned run first, then by value; runs without a value last, whichever way.
 * @param {Run[]} runs @param {((run: Run) => any) | undefined} value @param {boolean} descending
 */
export function sorted(runs, value, descending) {
  if (!value) return [...runs].sort((a, b) => Number(b.pinned) - Number(a.pinned));
  const sign = descending ? -1 : 1;
  const keyed = runs.map((run) => ({ run, key: clean(value(run)) }));
  keyed.sort((a, b) => Number(b.run.pinned) - Number(a.run.pinned) || byKey(a.key, b.key, sign));
  return keyed.map(({ run }) => run);
}

/** @param {any} value */
function clean(value) {
  return value === undefined || value === null || value === "" || Number.isNaN(value) ? null : value;
}

/** @param {any} a @param {any} b @param {number} sign */
function byKey(a, b, sign) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
}
