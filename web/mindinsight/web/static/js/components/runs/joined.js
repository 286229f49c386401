// Tags that mean the same scalar: recorders write "loss", "train/loss" and "loss/auto". In the table they
// share a column, whose name in the address begins with "~".

/** @typedef {{tag: string, count: number}} TagRow */
/** @typedef {{name: string, members: string[], count: number}} Joined */

const DECORATION = new Set(["train", "training", "auto", "scalar", "scalars"]);
const MARK = "~";
const NEARLY = 0.9; // share of the runs: with fewer, a column of the evaluation would be empty for many

/**
 * Return the name of a scalar without prefixes and suffixes of recorders: "train/loss", "loss/auto" and
 * "Loss" become "loss". `alignments.py` is the server's version.
 * @param {string} tag
 */
export function plainName(tag) {
  const parts = tag
    .toLowerCase()
    .split("/")
    .filter((part) => !DECORATION.has(part));
  return parts.join("/") || tag.toLowerCase();
}

/**
 * Group tags with the same meaning, most common first. Others keep their own name.
 * @param {TagRow[]} rows
 * @returns {Joined[]}
 */
export function joinTags(rows) {
  /** @type {Map<string, TagRow[]>} */
  const groups = new Map();
  for (const row of rows) {
    const name = plainName(row.tag);
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups].map(([name, members]) => {
    const ordered = members.sort((a, b) => b.count - a.count || a.tag.length - b.tag.length);
    return {
      name: ordered.length > 1 ? MARK + name : ordered[0].tag,
      members: ordered.map(({ tag }) => tag),
      count: ordered.reduce((sum, { count }) => sum + count, 0),
    };
  });
}

/**
 * Sort groups by the number of rows that have them; among the most common, losses come first, then
 * accuracies, and those of an evaluation before others if nearly all runs have them.
 * @param {Joined[]} joined
 */
export function byCoverage(joined) {
  const most = Math.max(0, ...joined.map(({ count }) => count));
  const covers = (/** @type {Joined} */ { count }) => Number(count * 2 >= most);
  const evaluates = (/** @type {Joined} */ { name, count }) =>
    Number(isOfEvaluation(name) && count >= NEARLY * most);
  return [...joined].sort(
    (a, b) =>
      covers(b) - covers(a) ||
      interest(b.name) - interest(a.name) ||
      evaluates(b) - evaluates(a) ||
      b.count - a.count ||
      a.name.length - b.name.length ||
      a.name.localeCompare(b.name, undefined, { numeric: true }),
  );
}

const EVALUATION = /(^|[/_.-])(val|valid|validation|eval|evaluation|test)([/_.-]|$)/i;

/** Return whether a scalar is measured on data that is not trained on, by its name. @param {string} tag */
export function isOfEvaluation(tag) {
  return EVALUATION.test(tag);
}

/** Return the order of a tag by its name: losses, accuracies, others. @param {string} tag */
export function interest(tag) {
  return /loss/i.test(tag) ? 2 : /acc/i.test(tag) ? 1 : 0;
}

/** Return the column heading of a tag. @param {string} tag */
export function titleOf(tag) {
  return tag.startsWith(MARK) ? tag.slice(MARK.length) : tag;
}
