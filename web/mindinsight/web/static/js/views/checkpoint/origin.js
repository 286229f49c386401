// Run that a checkpoint belongs to, and the loss at its steps.

import { lossTags } from "../../components/landscape/curve.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

/**
 * Return the run whose folder shares the longest path with a file; null if they share only the base
 * directory.
 * @template {{id: string}} R
 * @param {R[]} runs
 * @param {string} file "./job/ckpt/net-1.ckpt"
 * @returns {R | null}
 */
export function runOf(runs, file) {
  const folders = file.split("/").slice(0, -1);
  const shared = (/** @type {R} */ { id }) => {
    const parts = id.split("/");
    const common = parts.findIndex((part, i) => part !== folders[i]);
    return common < 0 ? parts.length : common;
  };
  const [best] = [...runs].sort((a, b) => shared(b) - shared(a));
  return best && shared(best) > 1 ? best : null;
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

/**
 * Return the value at the last recorded step up to `step`; null before the first.
 * @param {{step: ArrayLike<number>, value: ArrayLike<number>}} loss
 * @param {number} step
 */
export function lossAt(loss, step) {
  let at = -1;
  while (at + 1 < loss.step.length && loss.step[at + 1] <= step) at++;
  return at < 0 ? null : loss.value[at];
}
