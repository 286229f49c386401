// Helpers for change events: which runs grew, and how to merge two events.

/** @typedef {import("./types.js").Change} Change */

/**
 * Return the ids of the runs that may have new data of any of the given kinds.
 * @param {import("./types.js").App} app
 * @param {Change} change
 * @param {string[]} kinds any of these
 * @returns {string[]} ids
 */
export function grownRuns(app, change, ...kinds) {
  if (change.everything) return app.selection.everything().map((run) => run.id);
  return Object.keys(change.runs).filter((run) => change.runs[run].some((kind) => kinds.includes(kind)));
}

/**
 * Merge two change events into one.
 * @param {Change | null} before
 * @param {Change} change
 * @returns {Change}
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
