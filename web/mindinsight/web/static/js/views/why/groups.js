// Two groups of runs, good and bad: as the address has them, or chosen by a metric.

import { idOf } from "../../core/names.js";

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {"good" | "bad" | "both" | ""} Group as an address may have them, also in both */

/**
 * Read the groups from the address.
 * @param {import("../../core/url.js").Url} url
 * @returns {Map<string, Group>}
 */
export function readGroups(url) {
  const read = (/** @type {"good" | "bad"} */ group) =>
    url.all(group).map((name) => /** @type {[string, Group]} */ ([idOf(name), group]));
  const good = new Map(read("good"));
  const bad = read("bad").map(
    ([id, group]) => /** @type {[string, Group]} */ ([id, good.has(id) ? "both" : group]),
  );
  return new Map([...good, ...bad]);
}

/**
 * Write the groups to the address.
 * @param {import("../../core/url.js").Url} url
 * @param {Map<string, Group>} groups
 */
export function writeGroups(url, groups) {
  url.set({ good: names(groups, "good"), bad: names(groups, "bad") });
}

/**
 * Return the names of a group's runs as in the address.
 * @param {Map<string, Group>} groups
 * @param {Group} group
 */
function names(groups, group) {
  return members(groups, group).map((id) => id.slice(2) || ".");
}

/** Return the ids of a group's runs. @param {Map<string, Group>} groups @param {Group} group */
export function members(groups, group) {
  return [...groups].filter(([, of]) => of === group || of === "both").map(([id]) => id);
}

const MOST = 200; // runs in a group at first: a request names them all

/**
 * Split runs: the best third is good, the worst third is bad. Failed runs and those with a non-finite last
 * value are bad first. A value that the groups have in common makes runs neither good nor bad.
 * @param {Run[]} runs
 * @param {(run: Run) => number | undefined} value by which they are compared
 * @param {"min" | "max"} end which is the best
 * @param {(run: Run) => boolean} broken
 * @returns {Map<string, Group>}
 */
export function splitRuns(runs, value, end, broken) {
  const sign = end === "max" ? -1 : 1;
  const bad = runs.filter(broken);
  const ordered = runs
    .filter((run) => !broken(run) && Number.isFinite(value(run)))
    .sort((a, b) => sign * (Number(value(a)) - Number(value(b))));
  const third = Math.min(MOST, Math.max(1, Math.floor(runs.length / 3)));
  const best = ordered.slice(0, third);
  const rest = ordered.slice(Math.max(third, ordered.length - Math.max(0, third - bad.length)));
  const [last, first] = [best.at(-1), rest[0]];
  const tied = last && first && value(last) === value(first) ? value(last) : NaN; // NaN equals no value
  const [good, worst] = [best, rest].map((group) => group.filter((run) => value(run) !== tied));
  return new Map([
    ...good.map((run) => /** @type {[string, Group]} */ ([run.id, "good"])),
    ...[...bad, ...worst].slice(0, MOST).map((run) => /** @type {[string, Group]} */ ([run.id, "bad"])),
  ]);
}
