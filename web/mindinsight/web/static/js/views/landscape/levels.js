// Levels of loss shared by landscapes, and whether they lie in one plane.

/** @typedef {import("./figures.js").Landscape} Landscape */
/** @typedef {{start: number, end: number, size: number}} Levels */

const STEPS = [1, 2, 2.5, 5, 10]; // between levels, times a power of ten
const ALIKE = 1e-6; // share of an axis within which two places are one

/**
 * Return round levels from the smallest to the largest loss of all landscapes; null if no loss is finite.
 * @param {Landscape[]} landscapes
 * @param {number} lines about how many
 * @returns {Levels | null}
 */
export function sharedLevels(landscapes, lines) {
  const [low, high] = sharedRange(landscapes) ?? [0, 0];
  if (!(high > low)) return null;
  const raw = (high - low) / Math.max(1, lines);
  const power = 10 ** Math.floor(Math.log10(raw));
  const size = (STEPS.find((step) => step * power >= raw * (1 - 1e-9)) ?? 10) * power;
  return { start: Math.ceil(low / size) * size, end: Math.floor(high / size) * size, size };
}

/**
 * Return the smallest and largest loss of all landscapes; null if no loss is finite.
 * @param {Landscape[]} landscapes
 * @returns {[number, number] | null}
 */
export function sharedRange(landscapes) {
  let [low, high] = [Infinity, -Infinity];
  for (const { z } of landscapes) {
    for (const loss of z) {
      if (!Number.isFinite(loss)) continue;
      low = Math.min(low, loss);
      high = Math.max(high, loss);
    }
  }
  return low <= high ? [low, high] : null;
}

/**
 * Return whether axes or methods of reduction differ, so that one place means different weights.
 * @param {Landscape[]} landscapes
 */
export function differentPlanes(landscapes) {
  const [first, ...others] = landscapes;
  return others.some(
    (other) =>
      other.decomposition !== first.decomposition || !alike(first.x, other.x) || !alike(first.y, other.y),
  );
}

/**
 * Return whether two axes are equal within a millionth of their length.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
function alike(a, b) {
  if (a.length !== b.length) return false;
  const width = Math.abs(a[a.length - 1] - a[0]) || 1;
  for (let i = 0; i < a.length; i++) if (Math.abs(a[i] - b[i]) > ALIKE * width) return false;
  return true;
}
