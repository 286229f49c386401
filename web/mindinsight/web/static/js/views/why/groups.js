// Two groups of runs, good and bad, as the address has them.

import { idOf } from "../../core/names.js";

/** @typedef {import("../../components/runs/split.js").Group} Group */

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
 * @param {string} by scalar by which the runs were split, or ""
 */
export function writeGroups(url, groups, by) {
  url.set({ good: names(groups, "good"), bad: names(groups, "bad"), by: by || null });
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
