// Matching of dumps and runs by job, rank and path.

/** @typedef {import("../../core/types.js").Run} Run */

/**
 * Sort dumps: the run's own, those of its job, then by the number of folders they share with it.
 * @template {{id: string, run: string}} T
 * @param {T[]} dumps
 * @param {{id: string, job: string}} run
 * @param {Pick<Run, "id" | "job">[]} runs
 */
export function nearestFirst(dumps, run, runs) {
  const jobs = new Map(runs.map((other) => [other.id, other.job]));
  const rank = (/** @type {T} */ dump) =>
    dump.run === run.id ? Infinity : jobs.get(dump.run) === run.job ? 1e6 : shared(dump.id, run.id);
  return [...dumps].sort((a, b) => rank(b) - rank(a) || a.id.localeCompare(b.id));
}

/**
 * Return the run whose graph most likely belongs to a dump, or undefined if none is related to it.
 * @param {{id: string, run: string}} dump
 * @param {number} rank
 * @template {Pick<Run, "id" | "job" | "rank">} R
 * @param {R[]} runs all of them
 * @param {(run: R) => boolean} hasGraph whether a run has a graph
 * @returns {R | undefined}
 */
export function runWithGraph(dump, rank, runs, hasGraph) {
  const job = runs.find((run) => run.id === dump.run)?.job;
  const near = (/** @type {R} */ run) => {
    if (run.id === dump.run) return Infinity;
    return run.job === job ? 1e6 + Number(run.rank === rank) : shared(dump.id, run.id);
  };
  return runs.filter((run) => hasGraph(run) && near(run) > 1).sort((a, b) => near(b) - near(a))[0];
}

/**
 * Return the number of leading folders that two paths have in common.
 * @param {string} first
 * @param {string} second
 */
function shared(first, second) {
  const [left, right] = [first.split("/"), second.split("/")];
  const end = left.findIndex((name, i) => name !== right[i]);
  return end < 0 ? left.length : end;
}
