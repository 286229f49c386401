// Default for the second graph of a comparison.

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {{run: string, tag: string}} Chosen */

/**
 * Return another graph of the same run, otherwise one of the next rank, of another run, or the same graph.
 * @param {Run[]} runs
 * @param {Chosen} left
 * @param {string[]} tags of its run
 * @returns {Chosen}
 */
export function counterpart(runs, left, tags) {
  const otherTag = tags.find((tag) => tag !== left.tag);
  if (otherTag) return { run: left.run, tag: otherTag };
  const at = runs.findIndex((run) => run.id === left.run);
  const candidates = [...runs.slice(at + 1), ...runs.slice(0, Math.max(0, at))];
  const rank = candidates
    .filter((run) => run.job === runs[at]?.job && run.rank !== null)
    .sort((a, b) => Number(a.rank) - Number(b.rank))[0];
  return { run: (rank ?? candidates[0] ?? { id: left.run }).id, tag: "" };
}
