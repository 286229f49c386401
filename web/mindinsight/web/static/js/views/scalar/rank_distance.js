// Distances of ranks from the median at each step, reduced to the available rows.

const ALMOST_ALL = 0.995;
const LOOKED_AT = 20_000; // cells that the size of the colours is judged by

/**
 * @typedef {Object} Grid
 * @property {number[]} ranks
 * @property {ArrayLike<number>} step
 * @property {Float32Array} mean ranks × steps, NaN where a rank has none
 * @property {ArrayLike<number>} not_finite numbers of the cells with NaN or infinities
 */

/**
 * Return each value minus the median of its step.
 * @param {Grid} grid
 * @returns {Float32Array} ranks × steps
 */
export function awayFromMedian({ ranks, step, mean }) {
  const columns = step.length;
  const away = new Float32Array(mean.length);
  const values = new Float32Array(ranks.length);
  for (let column = 0; column < columns; column++) {
    let n = 0;
    for (let at = column; at < mean.length; at += columns) {
      if (Number.isFinite(mean[at])) values[n++] = mean[at];
    }
    const median = values.subarray(0, n).sort()[n >> 1];
    for (let at = column; at < mean.length; at += columns) away[at] = mean[at] - median;
  }
  return away;
}

/** Return the distance that 99.5 % of the cells stay below; 1 if all are equal. @param {Float32Array} away */
export function usualMost(away) {
  const stride = Math.max(1, Math.floor(away.length / LOOKED_AT));
  const sizes = Float32Array.from({ length: Math.ceil(away.length / stride) }, (_, i) =>
    Math.abs(away[i * stride]),
  )
    .filter(Number.isFinite)
    .sort();
  return sizes[Math.floor((sizes.length - 1) * ALMOST_ALL)] || 1;
}

/**
 * Return which cells of the reduced picture contain non-finite values.
 * @param {ArrayLike<number>} cells numbers among ranks × columns
 * @param {number} ranks
 * @param {number} columns
 * @param {number} rows at most
 * @returns {Float32Array[]} 1 where there are some, else NaN
 */
export function notFiniteRows(cells, ranks, columns, rows) {
  const ranksPerRow = Math.ceil(ranks / Math.max(1, rows));
  const z = Array.from({ length: Math.ceil(ranks / ranksPerRow) }, () => new Float32Array(columns).fill(NaN));
  for (let i = 0; i < cells.length; i++) {
    z[Math.floor(cells[i] / columns / ranksPerRow)][cells[i] % columns] = 1;
  }
  return z;
}

/**
 * Return the distances reduced to rows. If ranks share a row, a cell shows the farthest, so that one outlier
 * among a thousand is visible.
 * @param {Float32Array} away
 * @param {number[]} ranks
 * @param {number} columns
 * @param {number} rows at most
 * @returns {{names: string[], z: Float32Array[], rankOf: number[][]}} `names` of the rows; `rankOf`: the rank
 *   that a cell is of
 */
export function folded(away, ranks, columns, rows) {
  const ranksPerRow = Math.ceil(ranks.length / Math.max(1, rows));
  /** @type {{names: string[], z: Float32Array[], rankOf: number[][]}} */
  const folds = { names: [], z: [], rankOf: [] };
  for (let first = 0; first < ranks.length; first += ranksPerRow) {
    const last = Math.min(ranks.length, first + ranksPerRow) - 1;
    const z = new Float32Array(columns).fill(NaN);
    const rankOf = new Array(columns).fill(ranks[first]);
    for (let row = first; row <= last; row++) {
      for (let column = 0; column < columns; column++) {
        const value = away[row * columns + column];
        if (Number.isNaN(value) || Math.abs(value) <= Math.abs(z[column])) continue;
        z[column] = value;
        rankOf[column] = ranks[row];
      }
    }
    folds.names.push(first === last ? String(ranks[first]) : `${ranks[first]}–${ranks[last]}`);
    folds.z.push(z);
    folds.rankOf.push(rankOf);
  }
  return folds;
}
