// Badge on a box of a graph comparison: a sign for what differs, and its description for screen readers.

/** @typedef {import("../../core/types.js").Translate} Translate */
/** @typedef {import("../../core/answers.js").Differing} Differing */
/** @typedef {import("../../core/answers.js").Badge} Badge */

/** Signs beside the words, so that no colour has to be told from another. */
export const SIGNS = { changed: "≠", left: "◧", right: "◨", follows: "→" };

/**
 * Return the badge of a box, or null if nothing in it differs.
 * @param {Differing & {count: number}} box
 * @param {"left" | "right"} side the graph it stands in
 * @param {Translate} t
 * @returns {Badge | null}
 */
export function badgeOf(box, side, t) {
  if (box.state === "same") return null;
  const only =
    side === "left" ? { left: box.only, right: box.missing } : { left: box.missing, right: box.only };
  const differing = { changed: box.changed, ...only };
  const byKind = box.state === "follows" ? { follows: box.follows } : differing;
  const counts = Object.entries(byKind).filter(([, n]) => n);
  const sign = (/** @type {string} */ kind) => SIGNS[/** @type {keyof typeof SIGNS} */ (kind)];
  return {
    kind: box.state,
    text: counts.map(([kind, n]) => (box.count ? sign(kind) + n : sign(kind))).join(" "),
    label: counts
      .map(([kind, n]) => (box.count ? t(`graph.within.${kind}`, { n }) : t(`graph.pair.${kind}`)))
      .join(", "),
  };
}
