// Facts of a run: settings, metrics, data pipeline and divergence, which several parts of a page show.

import { get } from "./api.js";

/** Requests in flight by run. @type {Map<string, ReturnType<typeof request>>} */
const pending = new Map();

/** @param {string} run id */
function request(run) {
  return get("v2/runs/facts", { run });
}

/** Request the facts of a run. Simultaneous calls share one request. @param {string} run id */
export function runFacts(run) {
  const answer = pending.get(run) ?? request(run).finally(() => pending.delete(run));
  pending.set(run, answer);
  return answer;
}
