// Sorted indices of nodes against the ranges of boxes: a box holds the indices from its own to its end.

/** @typedef {import("./shapes.js").Box} Box */

/**
 * How many of the sorted indices lie in a box.
 * @param {number[]} indices
 * @param {{id: number, end: number}} box
 */
export function countWithin(indices, { id, end }) {
  return firstFrom(indices, end) - firstFrom(indices, id);
}

/** The boxes that hold any of the sorted indices. @param {Box[]} boxes @param {number[]} indices */
export function holding(boxes, indices) {
  return boxes.filter((box) => countWithin(indices, box) > 0);
}

/** Position of the first index that is not smaller. @param {number[]} indices @param {number} value */
export function firstFrom(indices, value) {
  let [low, high] = [0, indices.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (indices[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
