// Health of the visible jobs, requested a few at a time.

import { debounce } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";

/** @typedef {import("../../components/health_strip.js").Health} Health */

const DELAY = 120; // ms
const MOST = 4; // jobs in one question

/**
 * Create the cache of health. `get` returns what is known and requests it otherwise; `forget` requests all
 * again.
 * @param {import("../../core/types.js").App} app
 * @param {Element} element what the strips are shown in
 * @param {() => void} onload
 */
export function createHealth(app, element, onload) {
  /** @type {Map<string, Health>} */
  const known = new Map();
  /** Jobs that have been asked for since they may have changed. @type {Set<string>} */
  let asked = new Set();
  /** @type {Set<string>} */
  const queued = new Set();
  const requests = latest(element);

  let busy = false;

  /** A few jobs at a time, one question after the other: the server has to look at all of their ranks. */
  const load = debounce(async () => {
    if (busy || !queued.size) return;
    busy = true;
    const job = [...queued].slice(0, MOST);
    job.forEach((id) => queued.delete(id));
    await requests.join(
      (signal) => app.api.get("v2/answers/health", { job }, { signal }),
      ({ jobs }) => {
        Object.entries(jobs).forEach(([id, health]) => known.set(id, health));
        onload();
      },
      leaveAsIs,
    );
    busy = false;
    load();
  }, DELAY);

  return {
    /** @param {string} job @returns {Health | undefined} */
    get(job) {
      if (!asked.has(job)) {
        asked.add(job);
        queued.add(job);
        load();
      }
      return known.get(job);
    },
    /** What is known may be old: it is shown until those in sight are fetched again. */
    forget() {
      asked = new Set();
    },
  };
}
