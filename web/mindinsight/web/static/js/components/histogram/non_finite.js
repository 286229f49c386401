// Counts of non-finite values, which the bins of a histogram cannot show.

import { NON_FINITE_BADGE } from "../hatching.js";
import { h } from "../../core/dom.js";

const NAMES = { nan: "NaN", positive_infinity: "+Inf", negative_infinity: "−Inf" };
const KINDS = /** @type {(keyof typeof NAMES)[]} */ (Object.keys(NAMES));

/** @typedef {Record<string, unknown>} Counts of each kind of value that is not finite */

/**
 * Return a badge with the counts of NaN and infinities, or null if there are none.
 * @param {import("../../core/types.js").App} app
 * @param {Counts} counts
 * @param {number} [since] the first step with any
 */
export function nonFiniteBadge({ t, format }, counts, since) {
  const texts = KINDS.filter((kind) => counts[kind]).map(
    (kind) => `${NAMES[kind]} ${format.number(Number(counts[kind]))}`,
  );
  if (!texts.length) return null;
  return h(
    "span",
    { class: NON_FINITE_BADGE },
    texts.join(" · "),
    since !== undefined && ` · ${t("histogram.since", { step: format.number(since) })}`,
  );
}

/**
 * Return the first step with a non-finite value, or undefined.
 * @param {ArrayLike<number>} step
 * @param {(kind: string, at: number) => number} count
 */
export function firstNonFinite(step, count) {
  return Array.from(step).find((_, at) => KINDS.some((kind) => count(kind, at)));
}

/** Return the counts of each kind of non-finite value, summed over all steps. @param {Counts[]} perStep */
export function summed(perStep) {
  return Object.fromEntries(
    KINDS.map((kind) => [kind, perStep.reduce((sum, counts) => sum + Number(counts[kind]), 0)]),
  );
}
