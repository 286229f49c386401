// Tags of layers, grouped: "layers.0/norm", "layers.1/norm" ... become "layers.*/norm".

/** @typedef {{stem: string, tags: string[]}} Stack */

const FEWEST = 3; // layers that make a stack
const NUMBER = /(?<=^|[./_-]|[a-z])\d+(?=$|[./_-])/gi;

/**
 * Return the groups of at least three tags that differ only in a layer's number, in the order of their first
 * tags. If a tag has several numbers, the one that varies most is the layer's.
 * @param {string[]} tags
 * @returns {Stack[]}
 */
export function layerStacks(tags) {
  /** @type {Map<string, string[]>} */
  const stacks = new Map();
  for (const tag of tags) {
    for (const stem of stemsOf(tag)) stacks.set(stem, [...(stacks.get(stem) ?? []), tag]);
  }
  const largest = [...stacks]
    .filter(([, members]) => members.length >= FEWEST)
    .sort((a, b) => b[1].length - a[1].length);
  /** @type {Set<string>} */
  const taken = new Set();
  const chosen = new Map();
  for (const [stem, members] of largest) {
    if (members.some((tag) => taken.has(tag))) continue;
    members.forEach((tag) => taken.add(tag));
    chosen.set(stem, members);
  }
  return [...stacks.keys()]
    .filter((stem) => chosen.has(stem))
    .map((stem) => ({ stem, tags: chosen.get(stem) }));
}

/** Return the tag with each of its numbers replaced by a star, one at a time. @param {string} tag */
function stemsOf(tag) {
  if (tag.includes("*")) return [];
  return [...tag.matchAll(NUMBER)].map(
    ({ index, 0: digits }) => `${tag.slice(0, index)}*${tag.slice(index + digits.length)}`,
  );
}
