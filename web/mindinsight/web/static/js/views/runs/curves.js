// The small curves of the rows in sight, fetched together, a little after they come into sight.

import { debounce } from "../../core/dom.js";

/**
 * @param {import("../../core/types.js").App} app
 * @param {() => void} onload called when more curves are there
 */
export function createCurves(app, onload) {
  /** @type {Map<string, Map<string, ArrayLike<number> | null>>} tag -> run -> values, null while they are asked for */
  const known = new Map();
  /** @type {Map<string, Set<string>>} */
  let wanted = new Map();

  const load = debounce(async () => {
    const asked = wanted;
    wanted = new Map();
    try {
      await Promise.all([...asked].map(([tag, runs]) => fetchCurves(tag, [...runs])));
      onload();
    } catch {
      asked.forEach((runs, tag) => runs.forEach((run) => known.get(tag)?.delete(run)));
    }
  }, 60);

  /** @param {string} tag @param {string[]} runs */
  const fetchCurves = async (tag, runs) => {
    const answer = await app.api.get("v2/runs/sparklines", { tag, run: runs.slice(0, 200) });
    const curves = known.get(tag);
    for (const [run, column] of Object.entries(answer.curves)) curves?.set(run, app.api.column(column));
  };

  return {
    /** @param {string} tag @param {string} run */
    get(tag, run) {
      const curves = known.get(tag) ?? new Map();
      known.set(tag, curves);
      if (!curves.has(run)) {
        curves.set(run, null);
        wanted.set(tag, (wanted.get(tag) ?? new Set()).add(run));
        load();
      }
      return curves.get(run) ?? undefined;
    },
    /** What is known may be old: keep showing it, and ask again. */
    forget() {
      known.forEach((curves, tag) => wanted.set(tag, new Set(curves.keys())));
      if (wanted.size) load();
    },
  };
}
