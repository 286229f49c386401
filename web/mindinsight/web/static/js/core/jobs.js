// Jobs: the ranks of one training. Charts and lists show a job as one entry until the user expands it.

import { newestJobs } from "./run_list.js";

/** @typedef {import("./types.js").Run} Run */

const FEW = 4; // ranks of a job that are shown one by one where there are others

/**
 * Return the runs of the `count` newest jobs. A job is as new as its newest rank.
 * @param {Run[]} runs
 * @param {number} count
 * @returns {Run[]}
 */
export function ofNewestJobs(runs, count) {
  const newest = new Set(newestJobs(runs).slice(0, count));
  return runs.filter((run) => newest.has(run.job));
}

/** Return whether a run recorded data of its own, unlike a directory of dumps. @param {Run} run */
export function hasRecords(run) {
  return run.events || Object.keys(run.kinds).length > 0;
}

/**
 * Return the visible jobs that have more than one rank.
 * @param {import("./types.js").App} app
 * @returns {{id: string, ranks: number}[]}
 */
export function jobsOf(app) {
  /** @type {Map<string, number>} */
  const count = new Map();
  for (const run of app.selection.all()) {
    if (run.rank !== null) count.set(run.job, (count.get(run.job) ?? 0) + 1);
  }
  return [...count].filter(([, ranks]) => ranks > 1).map(([id, ranks]) => ({ id, ranks }));
}

/** Return the run of the lowest rank of a job, or undefined. @param {Run[]} runs @param {string} job */
export function lowestRank(runs, job) {
  const ranks = runs.filter((run) => run.job === job && run.rank !== null);
  return ranks.sort((a, b) => Number(a.rank) - Number(b.rank))[0];
}

/** Return the number of distinct jobs. @param {Run[]} runs */
export function countJobs(runs) {
  return new Set(runs.map((run) => run.job)).size;
}

/**
 * Return the jobs to show as one entry: those with all or many ranks shown that the user has not expanded. A
 * few selected ranks are shown one by one.
 * @param {Run[]} shown
 * @param {Run[]} all
 * @param {Set<string>} unfolded
 * @returns {Set<string>}
 */
export function foldedJobs(shown, all, unfolded) {
  const [ranks, total] = [ranksByJob(shown), ranksByJob(all)];
  const folds = (/** @type {string} */ job, /** @type {number} */ n) =>
    n > 1 && (n > FEW || n === total.get(job)) && !unfolded.has(job);
  return new Set([...ranks].filter(([job, n]) => folds(job, n)).map(([job]) => job));
}

/**
 * Count the ranks of each job. Runs without a rank are not counted.
 * @param {Run[]} runs
 * @returns {Map<string, number>}
 */
function ranksByJob(runs) {
  /** @type {Map<string, number>} */
  const ranks = new Map();
  for (const run of runs) if (run.rank !== null) ranks.set(run.job, (ranks.get(run.job) ?? 0) + 1);
  return ranks;
}

/**
 * Return the runs with only the first rank of each folded job.
 * @template {{job: string}} T
 * @param {T[]} runs ranks in order
 * @param {Set<string>} folded
 * @returns {T[]}
 */
export function withoutOtherRanks(runs, folded) {
  const met = new Set();
  return runs.filter(({ job }) => !folded.has(job) || (!met.has(job) && met.add(job)));
}

/**
 * Return the runs of the job to which a file or folder belongs: the only job in the smallest directory that
 * holds the file and a run. Return [] if that directory has several jobs, or is the base directory.
 * @template {{id: string, job: string}} T
 * @param {T[]} runs
 * @param {string} path "./job/ckpt/net-1.ckpt"
 * @returns {T[]}
 */
export function onlyJobAround(runs, path) {
  const folders = path.split("/").slice(0, -1);
  for (let n = folders.length; n > 1; n--) {
    const folder = folders.slice(0, n).join("/");
    const inside = runs.filter(({ id }) => id === folder || id.startsWith(`${folder}/`));
    if (inside.length) return new Set(inside.map(({ job }) => job)).size === 1 ? inside : [];
  }
  return [];
}
