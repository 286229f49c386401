// Marks that a dump gives to a box: a badge, a colour, and a description for screen readers.

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./badges.js").Badge} Badge */
/** @typedef {{badge: Badge | null, heat: number | null, hatched: boolean}} Marks */
/**
 * @typedef {Object} Coloured a box in what v2/graph/dump answers
 * @property {number} id
 * @property {string} [symptom] @property {Record<string, number>} [counts] by symptom
 * @property {number | string | null} [value] @property {number | null} [share]
 */

/** Signs beside the words, so that no colour has to be told from another; the worst first. */
export const SIGNS = {
  fault: "⚠",
  lost: "NaN/Inf",
  overflow: "▲",
  received: "→NaN/Inf",
  caught: "⚑",
  zero: "=0",
  mask: "−∞",
};
const SHOWN = 2; // signs on one box

/**
 * Return badge, heat and hatching of a box in the colours of a dump. Without `coloured` it has none.
 * @param {App} app
 * @param {Coloured | undefined} coloured
 * @param {string} colour
 * @param {boolean} scope
 * @returns {Marks}
 */
export function marksOf(app, coloured, colour, scope) {
  if (!coloured) return { badge: null, heat: null, hatched: false };
  const hatched = isNonFinite(coloured.symptom);
  return colour === "symptoms"
    ? { badge: symptomBadge(app, coloured, scope), heat: null, hatched }
    : {
        badge: nonFiniteBadge(app, coloured) ?? sizeBadge(app, coloured, colour),
        heat: coloured.share ?? null,
        hatched,
      };
}

/**
 * Return the word for a symptom in a list of all. Operators with NaN or Inf are called the others if the
 * operator of the first fault is counted separately.
 * @param {string} kind
 * @param {Record<string, number>} counts
 */
export function symptomWord(kind, counts) {
  return kind === "lost" && counts.fault ? "lost_others" : kind;
}

/** Return whether an anomaly concerns non-finite values. @param {string} [symptom] */
export function isNonFinite(symptom) {
  return symptom === "fault" || symptom === "lost";
}

/**
 * Return the badge of a box with non-finite values, or null. It has no number, because a statistic covers
 * only the finite elements.
 * @param {App} app
 * @param {Coloured} coloured
 * @returns {Badge | null}
 */
function nonFiniteBadge({ t }, { symptom }) {
  if (!isNonFinite(symptom)) return null;
  const kind = /** @type {"fault" | "lost"} */ (symptom);
  return { kind: `ill ${kind}`, text: SIGNS[kind], label: t(`graph.symptom.${kind}`, { n: 1 }) };
}

/**
 * Return the badge for a box's anomaly, or null.
 * @param {App} app
 * @param {Coloured} coloured
 * @param {boolean} scope
 * @returns {Badge | null}
 */
function symptomBadge({ t }, { symptom, counts = {} }, scope) {
  const kinds = Object.entries(counts);
  if (!kinds.length) return null;
  const sign = (/** @type {string} */ kind) => SIGNS[/** @type {keyof typeof SIGNS} */ (kind)];
  const signs = kinds
    .slice(0, SHOWN)
    .map(([kind, n]) => (scope && n > 1 ? `${sign(kind)} ×${n}` : sign(kind)));
  return {
    kind: `ill ${symptom}`,
    text: signs.join(" "),
    label: kinds.map(([kind, n]) => t(`graph.symptom.${symptomWord(kind, counts)}`, { n })).join(", "),
  };
}

/**
 * Return the badge with a box's value on the colour scale, or null.
 * @param {App} app
 * @param {Coloured} coloured
 * @param {string} colour
 * @returns {Badge | null}
 */
function sizeBadge({ t, format }, { value }, colour) {
  if (value === null || value === undefined) return null;
  const text = typeof value === "string" ? value : format.number(value);
  return { kind: "", text, label: `${t(`dump.statistic.${colour}`)} ${text}` };
}
