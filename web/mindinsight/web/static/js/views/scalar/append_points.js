// Incremental update of curves: only new points are requested and appended.

import { smoothing } from "./options.js";

/** @typedef {import("./curve.js").Curve} Curve */

/**
 * Return the curves with their newest points, or null if they must be requested again: too many points for
 * the width, a median of ranks, a zoomed range, replaced rows, or another scalar on the x axis. Only curves
 * of runs that have grown are requested.
 * @param {import("./card.js").Page} page
 * @param {Map<string, Curve[]>} curves
 * @param {number} width
 * @param {Set<string>} grown ids of runs
 * @param {AbortSignal} signal
 * @returns {Promise<Map<string, Curve[]> | null>}
 */
export async function appended(page, curves, width, grown, signal) {
  const options = page.options();
  if ([...curves.values()].flat().some((curve) => curve.job)) return null;
  if (options.smooth && looksAhead(options.smoothKind)) return null;
  if (options.zoom || options.x.startsWith("tag:") || !curves.size) return null;
  const key = JSON.stringify(smoothing(options));
  /** @type {Map<string, Curve[]>} */
  const fresh = new Map();
  for (const [tag, tagCurves] of curves) {
    const joined = await Promise.all(
      tagCurves.map(async (curve) => {
        if (!grown.has(curve.run)) return curve;
        const { run, count, generation } = curve;
        return join(curve, await page.tails(key, { tag, run, since: count, generation }, signal));
      }),
    );
    if (joined.some((curve) => curve === null || curve.step.length > 3 * Math.max(width, 300))) return null;
    fresh.set(tag, /** @type {Curve[]} */ (joined));
  }
  return fresh;
}

/** Return whether new points change the smoothing of earlier ones. @param {string} kind */
function looksAhead(kind) {
  return kind === "gaussian" || kind === "mean";
}

/**
 * Append new points to a curve. Return null if the curve must be requested again.
 * @param {Curve} curve
 * @param {Curve & {whole: boolean}} tail
 * @returns {Curve | null}
 */
function join(curve, tail) {
  if (tail.whole) return null;
  if (!tail.step.length) return curve;
  if (Boolean(curve.smooth) !== Boolean(tail.smooth)) return null;
  const start = curve.x ? curve.wall[0] - curve.x[0] : 0;
  const last = tail.step.length - 1;
  return {
    ...curve,
    count: tail.count,
    points: curve.points + tail.step.length,
    last: [tail.step[last], tail.wall[last], tail.value[last]],
    non_finite: [...curve.non_finite, ...tail.non_finite],
    step: concatenated(curve.step, tail.step),
    wall: concatenated(curve.wall, tail.wall),
    value: concatenated(curve.value, tail.value),
    x:
      curve.x &&
      concatenated(
        curve.x,
        Float64Array.from(tail.wall, (wall) => wall - start),
      ),
    smooth: curve.smooth && tail.smooth && concatenated(curve.smooth, tail.smooth),
  };
}

/** Return two columns as one. @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function concatenated(a, b) {
  const joined = new Float64Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
