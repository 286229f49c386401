// Run that a checkpoint belongs to, and the loss at its steps.

import { lossTags } from "../../components/landscape/curve.js";
import { onlyJobAround } from "../../core/jobs.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

/**
 * Return the run that a checkpoint belongs to, of a job its lowest rank; null if that is not known.
 * @template {{id: string, job: string, rank: number | null}} R
 * @param {R[]} runs
 * @param {string} file "./job/ckpt/net-1.ckpt"
 * @returns {R | null}
 */
export function runOf(runs, file) {
  const ranks = onlyJobAround(runs, file).sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  return ranks[0] ?? null;
}

/**
 * Request the run's main loss as columns of steps and values; null if it has none.
 * @param {App} app
 * @param {Run} run
 * @param {AbortSignal} signal
 */
export async function readLoss(app, run, signal) {
  if (!run.kinds.scalar) return null;
  const { tags } = await app.api.get("v2/tags", { kind: "scalar", run: [run.id] }, { signal });
  const [tag] = lossTags(tags, [run.id]).keys();
  if (tag === undefined) return null;
  const { series } = await app.api.columns("v2/scalar/series", { tag, run: [run.id], px: 2000 }, { signal });
  return series.length ? { tag, step: series[0].step, value: series[0].value } : null;
}

const HOLE = 4; // usual distances between recorded steps, from which on nothing is known between them

/**
 * Return the loss at a step, or the last one before if it is near: the step and its value. Null if the loss
 * at that step is unknown, because it was recorded at other steps only.
 * @param {{step: ArrayLike<number>, value: ArrayLike<number>}} loss
 * @param {number} step
 * @returns {{step: number, value: number} | null}
 */
export function lossAt({ step: steps, value }, step) {
  let at = -1;
  while (at + 1 < steps.length && steps[at + 1] <= step) at++;
  if (at < 0) return null;
  const gaps = Float64Array.from({ length: steps.length - 1 }, (_, i) => steps[i + 1] - steps[i]).sort();
  const usual = gaps[gaps.length >> 1] ?? 0;
  const between = at + 1 < steps.length;
  const near = between ? steps[at + 1] - steps[at] <= HOLE * usual : step - steps[at] <= usual;
  return steps[at] === step || near ? { step: steps[at], value: value[at] } : null;
}
