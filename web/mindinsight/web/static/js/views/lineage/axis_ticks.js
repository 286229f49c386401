// Ticks of a numeric axis.

const FEW = 12; // values that have a tick each
const CLOSEST = 0.06; // share of the axis between two ticks

/**
 * Return the ticks: the values themselves if they are few, otherwise evenly spaced ones.
 * @param {number[]} numbers
 * @param {number} low least of them
 * @param {number} high
 */
export function marksOf(numbers, low, high) {
  const values = [...new Set(numbers)].sort((a, b) => a - b);
  if (values.length > FEW) return [0, 0.25, 0.5, 0.75, 1].map((at) => low + at * (high - low));
  const room = CLOSEST * (high - low);
  const marks = [low];
  for (const value of values.slice(1, -1)) {
    if (value - marks[marks.length - 1] >= room && high - value >= room) marks.push(value);
  }
  return [...marks, high];
}
