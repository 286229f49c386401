// Cached list of runs, refreshed by change events.

import { get } from "./api.js";
import { throttle } from "./dom.js";

/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./types.js").RunList} RunList */

const MANY = 50; // changed runs from which the whole list is fetched

const LONGEST_MS = 60_000;
const AGAIN_MS = 5000; // until the list is asked for again when it could not be had

/** @type {RunList} */
const NOTHING = {
  version: 0,
  base: "",
  bases: [],
  base_missing: false,
  left_out: 0,
  watch: "",
  scanned: 0,
  now: 0,
  defaults: {},
  errors: [],
  runs: [],
};

/** List of runs that is kept up to date. `list` is the newest answer, `byId` its runs by id. */
export class Following {
  /** @type {Set<string>} */
  #stale = new Set();
  #everything = false;
  #catchUp = throttle(() => this.#fetch(), 1000);
  /**
   * Lists are fetched one after the other: an older one must not come in after a newer.
   * @type {Promise<void>}
   */
  #before = Promise.resolve();

  /**
   * @param {import("./live.js").Live} live
   * @param {() => void} onchange called when the list is new
   */
  constructor(live, onchange) {
    this.live = live;
    this.onchange = onchange;
    this.list = NOTHING;
    /** @type {Map<string, Run>} */
    this.byId = new Map();
    live.on((change) => this.#mark(change));
  }

  /** Fetch the first list, then follow the server's changes. */
  async begin() {
    try {
      await this.refresh();
    } finally {
      this.live.begin(this.list.version);
    }
  }

  /** Fetch the whole list. */
  refresh() {
    return this.#next(async () => this.#take(await get("v2/runs", {}, soon())));
  }

  /**
   * Run a fetch after the one before it, so that an older list never replaces a newer one.
   * @param {() => Promise<void>} fetch
   * @returns {Promise<void>}
   */
  #next(fetch) {
    const turn = this.#before.then(fetch);
    this.#before = turn.catch(() => {});
    return turn;
  }

  /** Note the changed runs and schedule a fetch. @param {import("./types.js").Change} change */
  #mark(change) {
    const ids = Object.keys(change.runs);
    this.#everything ||= change.list || !ids.length || ids.some((id) => !this.byId.has(id));
    ids.forEach((id) => this.#stale.add(id));
    this.#catchUp();
  }

  /** Fetch what has changed. A failed fetch is repeated for the whole list. */
  #fetch() {
    const ids = [...this.#stale];
    const everything = this.#everything || ids.length > MANY;
    this.#stale = new Set();
    this.#everything = false;
    (everything ? this.refresh() : this.#refreshSome(ids)).catch(() => {
      this.#everything = true;
      window.setTimeout(this.#catchUp, AGAIN_MS);
    });
  }

  /** Fetch only these runs and merge them into the list. @param {string[]} ids */
  #refreshSome(ids) {
    return this.#next(async () => {
      const answer = await get("v2/runs", { run: ids }, soon());
      const fresh = new Map(answer.runs.map((/** @type {Run} */ run) => [run.id, run]));
      this.#take({ ...answer, runs: this.list.runs.map((run) => fresh.get(run.id) ?? run) });
    });
  }

  /** Store a list and notify the owner. @param {RunList} next */
  #take(next) {
    this.list = { ...next, runs: inOrder(withLeft(distinct(next.runs))) };
    this.byId = new Map(this.list.runs.map((run) => [run.id, run]));
    this.live.compare(next.version);
    this.onchange();
  }
}

/** Return request options with a time limit, so that one slow answer does not block the next. */
function soon() {
  return { signal: AbortSignal.timeout(LONGEST_MS) };
}

/**
 * Return the runs with names that differ: equal ones are followed by the directory. `given` is the name
 * without.
 * @param {Run[]} runs
 * @returns {Run[]}
 */
export function distinct(runs) {
  const given = (/** @type {Run} */ run) => run.given ?? run.name;
  /** @type {Map<string, number>} */
  const counts = new Map();
  runs.forEach((run) => counts.set(given(run), (counts.get(given(run)) ?? 0) + 1));
  return runs.map((run) => {
    const name = given(run);
    const more = counts.get(name) !== 1 && name !== run.directory ? ` · ${run.directory}` : "";
    return { ...run, name: name + more, given: name };
  });
}

const LEFT = { least: 10, share: 0.1, most: 120 }; // seconds, and share of the time that a job took

/**
 * Return the runs with a mark on each rank that has no end although all others of its job were finished long
 * after its last event. `is_left` in `store/run.py` is the server's version.
 * @param {Run[]} runs
 * @returns {Run[]}
 */
export function withLeft(runs) {
  /** @type {Map<string, Run[]>} */
  const jobs = new Map(runs.map((run) => [run.job, []]));
  for (const run of runs) if (run.rank !== null) jobs.get(run.job)?.push(run);
  const behind = new Set([...jobs.values()].map(rankLeft));
  return runs.map((run) => (behind.has(run) === Boolean(run.left) ? run : { ...run, left: behind.has(run) }));
}

/** Return the rank that the others of its job left behind, or null. @param {Run[]} ranks */
function rankLeft(ranks) {
  const [others, [open, ...more]] = [true, false].map((ended) => ranks.filter((r) => r.finished === ended));
  if (!open || more.length || !others.length) return null;
  const took = Math.max(...others.map(({ first_event: first, last_event: last }) => last - first));
  const later = Math.min(...others.map(({ last_event: last }) => last)) - open.last_event;
  return later >= Math.min(LEFT.most, Math.max(LEFT.least, took * LEFT.share)) ? open : null;
}

/**
 * Sort runs: newest jobs first, the ranks of a job together. A job is as new as its newest rank.
 * @param {Run[]} runs
 */
export function inOrder(runs) {
  const place = new Map(newestJobs(runs).map((job, at) => [job, at]));
  const at = (/** @type {Run} */ run) => place.get(run.job) ?? 0;
  return [...runs].sort((a, b) => at(a) - at(b) || (a.rank ?? 0) - (b.rank ?? 0) || byName(a.id, b.id));
}

/**
 * Return the ids of the jobs, newest first. Names of files have whole seconds: of jobs with the same one, the
 * one with the later first event is newer.
 * @param {Run[]} runs
 * @returns {string[]}
 */
export function newestJobs(runs) {
  /** @type {Map<string, Run>} */
  const newest = new Map();
  const newer = (/** @type {Run} */ a, /** @type {Run} */ b) =>
    b.created - a.created || b.first_event - a.first_event;
  for (const run of runs) {
    const known = newest.get(run.job);
    if (!known || newer(run, known) < 0) newest.set(run.job, run);
  }
  return [...newest].sort(([a, one], [b, other]) => newer(one, other) || byName(a, b)).map(([job]) => job);
}

/** Compare two names in natural order: run2 before run10. */
export const byName = new Intl.Collator(undefined, { numeric: true }).compare;

/** Return the ids of runs as text, for comparison. @param {{id: string}[]} runs */
export function idsOf(runs) {
  return JSON.stringify(runs.map(({ id }) => id));
}

/**
 * Return the names of the base directories, or the last part of the path of a single one.
 * @param {RunList} list
 */
export function baseNames({ base, bases }) {
  const names = bases.map(({ name }) => name).filter(Boolean);
  return names.length ? names : [base.split(/[/\\]/).findLast(Boolean) ?? ""];
}
