// Intervals of training that landscapes were computed for.

/**
 * @typedef {Object} Landscape
 * @property {string} run
 * @property {string} tag
 * @property {Float64Array} x
 * @property {Float64Array} y
 * @property {Float64Array} z rows along y
 * @property {{x: Float64Array, y: Float64Array, z: Float64Array} | null} path
 * @property {number[]} intervals
 * @property {{x: Float64Array, y: Float64Array, z: Float64Array} | null} convergence
 * @property {string} decomposition
 * @property {string} unit "step" or "epoch"
 * @property {number} step_per_epoch
 */

/**
 * Return the interval's key: "1,2,3,4,5", or "final" if only the final weights were used.
 * @param {Landscape} landscape
 */
export function intervalOf(landscape) {
  return landscape.path ? landscape.intervals.join(",") : "final";
}

/**
 * Return the interval's label.
 * @param {import("../../core/types.js").Translate} t
 * @param {string} interval
 */
export function labelOf(t, interval) {
  const numbers = interval.split(",");
  if (interval === "final") return t("landscape.final");
  return numbers.length > 2 ? `${numbers[0]} … ${numbers[numbers.length - 1]}` : interval;
}

/**
 * Return the first and last step of an interval, or null if its tag does not say. Numbers are steps or
 * epochs.
 * @param {Landscape} landscape
 * @returns {[number, number] | null}
 */
export function stepRange(landscape) {
  const numbers = landscape.path
    ? landscape.intervals
    : (landscape.tag.match(/\d+(?=\]$)/) ?? []).map(Number);
  if (!numbers.length) return null;
  const steps =
    landscape.unit === "epoch" ? numbers.map((n) => n * (landscape.step_per_epoch || 1)) : numbers;
  return [Math.min(...steps), Math.max(...steps)];
}
