// Matching of dumps and runs by job, rank and path.

import { onlyJobAround } from "../../core/jobs.js";

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
 * Return the run with the graph of a dump: the run of the dump, the same rank of its job, another of its
 * ranks, or a run of the only job with a graph in a directory above the dump. Return undefined if there is
 * none.
 * @param {{id: string, run: string}} dump
 * @param {number} rank
 * @template {Pick<Run, "id" | "job" | "rank">} R
 * @param {R[]} runs all of them
 * @param {(run: R) => boolean} hasGraph whether a run has a graph
 * @returns {R | undefined}
 */
export function runWithGraph(dump, rank, runs, hasGraph) {
  const own = runs.find((run) => run.id === dump.run);
  const ranks = own ? runs.filter((run) => run.job === own.job) : [];
  const ours = ranks.filter(hasGraph);
  const known = ours.length ? ours : onlyJobAround(runs.filter(hasGraph), dump.id);
  const near = (/** @type {R} */ run) => (run === own ? 2 : Number(run.rank === rank));
  return known.sort((a, b) => near(b) - near(a))[0];
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
