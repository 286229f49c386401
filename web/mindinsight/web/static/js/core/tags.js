// The tags of one kind that the selected runs have.

/** @typedef {{tag: string, runs: string[], count: number}} Tag */

/** @param {import("./types.js").App} app @param {string} kind @param {AbortSignal} [signal] @returns {Promise<Tag[]>} */
export async function tagsOf(app, kind, signal) {
  const runs = app.selection.runs().filter((run) => run.kinds[kind]);
  if (!runs.length) return [];
  return (await app.api.get("v2/tags", { kind, run: runs.map((run) => run.id) }, { signal })).tags;
}

/** Two lists with the same name need the same cards. @param {Tag[]} tags */
export function nameOf(tags) {
  return JSON.stringify(tags.map(({ tag, runs }) => [tag, runs]));
}
