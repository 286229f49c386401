// Filters of change events: which runs grew in a kind of data.

/** @typedef {import("./types.js").Change} Change */

/**
 * The runs that may have something new of a kind.
 * @param {import("./types.js").App} app @param {Change} change @param {string[]} kinds any of these
 * @returns {string[]} ids
 */
export function grownRuns(app, change, ...kinds) {
  if (change.everything) return app.selection.everything().map((run) => run.id);
  return Object.keys(change.runs).filter((run) => change.runs[run].some((kind) => kinds.includes(kind)));
}

/**
 * Both changes as one, for who could not take the first in time.
 * @param {Change | null} before @param {Change} change @returns {Change}
 */
export function together(before, change) {
  const runs = { ...before?.runs };
  for (const [run, kinds] of Object.entries(change.runs)) {
    runs[run] = [...new Set([...(runs[run] ?? []), ...kinds])];
  }
  return {
    version: change.version,
    runs,
    list: change.list || before?.list === true,
    everything: change.everything || before?.everything,
  };
}
