// Batched requests for the sparklines of visible rows.

import { debounce } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

const DELAY = 60; // ms

/**
 * @typedef {{values?: ArrayLike<number>, fresh: boolean}} Curve `fresh`: asked for since it may have changed
 */

/**
 * Create the cache of curves. `get` returns a known curve and requests it otherwise; `forget` requests all
 * again and shows the old ones until then.
 * @param {import("../../core/types.js").App} app
 * @param {Element} element what the curves are shown in
 * @param {() => void} onload called when more curves are there
 */
export function createCurves(app, element, onload) {
  /** @type {Map<string, Map<string, Curve>>} tag -> run */
  const curvesByTag = new Map();
  /** To be requested, and under way. @type {Set<string>[]} as JSON of [tag, run] */
  let [queued, pending] = [new Set(), new Set()];
  const requests = latest(element);

  /** @param {string} tag */
  const curvesOf = (tag) => {
    const curves = curvesByTag.get(tag) ?? new Map();
    curvesByTag.set(tag, curves);
    return curves;
  };

  /** @param {{tag: string, curves: Record<string, import("../../core/types.js").Column>}[]} responses */
  const take = (responses) => {
    pending = new Set();
    for (const { tag, curves } of responses) {
      for (const [run, column] of Object.entries(curves)) {
        curvesOf(tag).set(run, { ...curvesOf(tag).get(run), values: app.api.column(column) });
      }
    }
    onload();
  };

  const failed = () => {
    pairs(pending).forEach(([tag, run]) => (curvesOf(tag).get(run).fresh = false));
    pending = new Set();
  };

  const load = debounce(() => {
    pending = new Set([...pending, ...queued]); // a later request stands for those it ends
    queued = new Set();
    requests.ask((signal) => fetchCurves(app, pairs(pending), signal), take, failed);
  }, DELAY);

  return {
    /** @param {string} tag @param {string} run */
    get(tag, run) {
      const curves = curvesOf(tag);
      const curve = curves.get(run) ?? { fresh: false };
      if (!curve.fresh) {
        curves.set(run, { ...curve, fresh: true });
        queued.add(JSON.stringify([tag, run]));
        load();
      }
      return curve.values;
    },
    /** Known curves may be old: they are shown until those in sight are fetched again. */
    forget() {
      curvesByTag.forEach((curves) => curves.forEach((curve) => (curve.fresh = false)));
    },
  };
}

/**
 * Return the pairs of tag and run behind keys.
 * @param {Set<string>} keys
 * @returns {[string, string][]} tag and run
 */
function pairs(keys) {
  return [...keys].map((key) => JSON.parse(key));
}

/**
 * Request the curves, one request per tag.
 * @param {import("../../core/types.js").App} app
 * @param {[string, string][]} requests tag and run
 * @param {AbortSignal} signal
 */
function fetchCurves(app, requests, signal) {
  /** @type {Map<string, string[]>} */
  const runs = new Map();
  for (const [tag, run] of requests) runs.set(tag, [...(runs.get(tag) ?? []), run]);
  return Promise.all(
    [...runs].map(async ([tag, run]) => ({
      tag,
      ...(await app.api.get("v2/runs/sparklines", { tag, run }, { signal })),
    })),
  );
}
