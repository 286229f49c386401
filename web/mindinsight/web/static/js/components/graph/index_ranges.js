// Search in sorted node indices. A box holds the indices from its id up to its `end`.

/** @typedef {import("./shapes.js").Box} Box */

/**
 * Return how many of the sorted indices lie in a box.
 * @param {number[]} indices
 * @param {{id: number, end: number}} box
 */
export function countWithin(indices, { id, end }) {
  return firstFrom(indices, end) - firstFrom(indices, id);
}

/**
 * Return the boxes that contain at least one of the sorted indices.
 * @param {Box[]} boxes
 * @param {number[]} indices
 */
export function holding(boxes, indices) {
  return boxes.filter((box) => countWithin(indices, box) > 0);
}

/**
 * Return the position of the first index that is at least `value`.
 * @param {number[]} indices
 * @param {number} value
 */
export function firstFrom(indices, value) {
  let [low, high] = [0, indices.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (indices[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
