// Tags of one kind in the selected runs.

import { withoutOtherRanks } from "./jobs.js";

/** @typedef {{tag: string, runs: string[], count: number}} Tag */

/**
 * Return the tags with only the lowest rank of each folded job that has the tag.
 * @param {import("./types.js").App} app
 * @param {string} kind
 * @param {AbortSignal} [signal]
 * @returns {Promise<Tag[]>}
 */
export async function tagsOfEntries(app, kind, signal) {
  const tags = await tagsOf(app, kind, signal);
  const folded = app.selection.folded();
  if (!folded.size) return tags;
  const jobOf = (/** @type {string} */ id) => ({ id, job: app.selection.run(id)?.job ?? id });
  return tags.map((tag) => ({
    ...tag,
    runs: withoutOtherRanks(tag.runs.map(jobOf), folded).map(({ id }) => id),
  }));
}

/**
 * Return the tags of a kind. The runs of a tag are in the order of the list of runs, because the server's
 * order by last write would move cards while runs grow.
 * @param {import("./types.js").App} app
 * @param {string} kind
 * @param {AbortSignal} [signal]
 * @param {import("./types.js").Run[]} [runs] default: the shown ones
 * @returns {Promise<Tag[]>}
 */
export async function tagsOf(app, kind, signal, runs = app.selection.runs()) {
  const ids = runs.filter((run) => run.kinds[kind]).map((run) => run.id);
  if (!ids.length) return [];
  /** @type {Tag[]} */
  const tags = (await app.api.get("v2/tags", { kind, run: ids }, { signal })).tags;
  const positions = new Map(ids.map((id, index) => [id, index]));
  const at = (/** @type {string} */ id) => positions.get(id) ?? ids.length;
  return tags.map((tag) => ({ ...tag, runs: [...tag.runs].sort((a, b) => at(a) - at(b)) }));
}

/** Return a key of a list of tags, equal for lists with the same cards. @param {Tag[]} tags */
export function nameOf(tags) {
  return JSON.stringify(tags.map(({ tag, runs }) => [tag, runs]));
}
