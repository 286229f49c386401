// Good and bad runs by their best value of a scalar.

import { tagsOf } from "../../core/tags.js";
import { isOfEvaluation } from "./joined.js";
import { bestEnd, stateOf } from "./values.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {"good" | "bad" | "both" | ""} Group as an address may have them, also in both */

/**
 * Return the scalars that most of the runs have, or all if there is no such scalar. Those of an evaluation
 * come first: they are the objective on every page.
 * @param {App} app @param {Run[]} runs @param {AbortSignal} signal
 */
export async function commonTags(app, runs, signal) {
  const tags = await tagsOf(app, "scalar", signal, runs);
  const common = tags.filter(({ runs: holders }) => holders.length * 2 > runs.length);
  const own = (/** @type {{tag: string}} */ { tag }) => Number(isOfEvaluation(tag));
  return [...(common.length ? common : tags)].sort((a, b) => own(b) - own(a));
}

/**
 * Split the runs into good and bad by their best value of a scalar. `broken` is the number of runs that
 * failed or ended with a non-finite value. A run that ended no better than it began, and among the worst
 * third, is bad however good its best value was. Without `wanted`, the name of the scalar says which end is
 * best; the lowest is assumed if it does not.
 * @param {App} app @param {Run[]} runs @param {string} tag @param {AbortSignal} signal
 * @param {"min" | "max" | null} [wanted]
 * @returns {Promise<{groups: Map<string, Group>, measure: {tag: string, end: "min" | "max"},
 *   broken: number}>}
 */
export async function splitBy(app, runs, tag, signal, wanted = null) {
  const end = wanted ?? bestEnd(tag) ?? "min";
  const { tables } = await app.api.get("v2/runs/columns", { tag: [tag] }, { signal });
  const [best, first, last] = [tables[tag][end], tables[tag].first, tables[tag].last].map(app.api.column);
  const at = new Map(tables[tag].runs.map((id, i) => [id, i]));
  const row = (/** @type {Run} */ run) => at.get(run.id) ?? -1;
  const { now } = app.selection.list();
  const broken = (/** @type {Run} */ run) =>
    stateOf(run, now) === "failed" || (at.has(run.id) && !Number.isFinite(last[row(run)]));
  const sign = end === "max" ? -1 : 1;
  const worst = [...last].filter(Number.isFinite).sort((a, b) => sign * (b - a));
  const high = worst[Math.max(0, Math.floor(worst.length / 3) - 1)]; // of the worst third at the end
  const lost = (/** @type {Run} */ run) =>
    sign * (last[row(run)] - first[row(run)]) >= 0 && sign * (last[row(run)] - high) >= 0;
  const groups = splitRuns(runs, (run) => best[row(run)], end, broken, lost);
  return { groups, measure: { tag, end }, broken: runs.filter(broken).length };
}

const MOST = 200; // runs in a group at first: a request names them all

/**
 * Split runs: the best third is good, the worst third is bad. Failed runs and those with a non-finite last
 * value are bad first, then those that lost what they had gained. Runs with a value that occurs in both
 * thirds are in neither group, unless that would leave only one of the groups empty.
 * @param {Run[]} runs
 * @param {(run: Run) => number | undefined} value by which they are compared
 * @param {"min" | "max"} end which is the best
 * @param {(run: Run) => boolean} broken
 * @param {(run: Run) => boolean} [lost] true for runs whose best value says nothing of how they ended
 * @returns {Map<string, Group>}
 */
export function splitRuns(runs, value, end, broken, lost = () => false) {
  const sign = end === "max" ? -1 : 1;
  const compare = (/** @type {Run} */ a, /** @type {Run} */ b) =>
    sign * (Number(value(a)) - Number(value(b)));
  const fell = runs.filter((run) => !broken(run) && lost(run));
  const bad = [...runs.filter(broken), ...fell];
  const ordered = runs.filter((run) => !bad.includes(run) && Number.isFinite(value(run))).sort(compare);
  const third = Math.min(MOST, Math.max(1, Math.floor(runs.length / 3)));
  const best = ordered.slice(0, third);
  const rest = ordered.slice(Math.max(third, ordered.length - Math.max(0, third - bad.length)));
  const [last, first] = [best.at(-1), rest[0]];
  const tied = last && first && value(last) === value(first) ? value(last) : NaN; // NaN equals no value
  const [better, worse] = [best, rest].map((group) => group.filter((run) => value(run) !== tied));
  const good = better.length || !(worse.length || bad.length) ? better : best;
  const worst = worse.length || bad.length || !better.length ? worse : rest;
  return new Map([
    ...good.map((run) => /** @type {[string, Group]} */ ([run.id, "good"])),
    ...[...runs.filter(broken), ...[...fell, ...worst].sort(compare)]
      .slice(0, MOST)
      .map((run) => /** @type {[string, Group]} */ ([run.id, "bad"])),
  ]);
}
