// The small curves of the rows in sight, fetched together, a little after they come into sight.

import { debounce } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

/**
 * @typedef {{values?: ArrayLike<number>, fresh: boolean}} Curve `fresh`: asked for since it may have changed
 */

/**
 * @param {import("../../core/types.js").App} app
 * @param {Element} place what the curves are shown in
 * @param {() => void} onload called when more curves are there
 */
export function createCurves(app, place, onload) {
  /** @type {Map<string, Map<string, Curve>>} tag -> run */
  const known = new Map();
  /** To be asked for, and asked for but not answered. @type {Set<string>[]} as JSON of [tag, run] */
  let [wanted, flying] = [new Set(), new Set()];
  const asked = latest(place);

  /** @param {string} tag */
  const curvesOf = (tag) => {
    const curves = known.get(tag) ?? new Map();
    known.set(tag, curves);
    return curves;
  };

  /** @param {AbortSignal} signal */
  const fetch = (signal) => {
    /** @type {Map<string, string[]>} */
    const runs = new Map();
    for (const [tag, run] of [...flying].map((one) => JSON.parse(one))) {
      runs.set(tag, [...(runs.get(tag) ?? []), run]);
    }
    return Promise.all(
      [...runs].map(async ([tag, run]) => ({
        tag,
        ...(await app.api.get("v2/runs/sparklines", { tag, run }, { signal })),
      })),
    );
  };

  const load = debounce(() => {
    flying = new Set([...flying, ...wanted]); // a later question stands for those it ends
    wanted = new Set();
    asked.ask(
      fetch,
      (answers) => {
        flying = new Set();
        for (const { tag, curves } of answers) {
          for (const [run, column] of Object.entries(curves)) {
            curvesOf(tag).set(run, { ...curvesOf(tag).get(run), values: app.api.column(column) });
          }
        }
        onload();
      },
      () => {
        for (const [tag, run] of [...flying].map((one) => JSON.parse(one))) {
          curvesOf(tag).get(run).fresh = false;
        }
        flying = new Set();
      },
    );
  }, 60);

  return {
    /** @param {string} tag @param {string} run */
    get(tag, run) {
      const curves = curvesOf(tag);
      const curve = curves.get(run) ?? { fresh: false };
      if (!curve.fresh) {
        curves.set(run, { ...curve, fresh: true });
        wanted.add(JSON.stringify([tag, run]));
        load();
      }
      return curve.values;
    },
    /** What is known may be old: keep showing it, and ask again for what is in sight. */
    forget() {
      known.forEach((curves) => curves.forEach((curve) => (curve.fresh = false)));
    },
  };
}
