// Range of values without outliers, which would flatten a chart.

const FEWEST = 20; // values below which nothing is left outside
const CUT = 0.1; // share of the values at either end between which most lie
const TUKEY = 1.5; // times as far from them as they are from each other
const TIMES = 5; // how much taller the values outside make the chart
const MARGIN = 20; // of the height, above and below

/**
 * Return the range of the values without the outermost ones; null if that cuts nothing.
 * @param {Iterable<ArrayLike<number>>} columns
 * @param {number} [share] of the values at either end that may be cut
 * @returns {[number, number] | null}
 */
export function calmRange(columns, share = 0.02) {
  /** @type {number[]} */
  const values = [];
  for (const column of columns) {
    const stride = Math.max(1, Math.floor(column.length / 2000));
    for (let i = 0; i < column.length; i += stride) if (Number.isFinite(column[i])) values.push(column[i]);
  }
  if (values.length < 20) return null;
  values.sort((a, b) => a - b);
  const at = (/** @type {number} */ part) => values[Math.round(part * (values.length - 1))];
  const [low, high] = [at(share), at(1 - share)];
  const room = (high - low || Math.abs(high) || 1) * 0.15;
  if (values[0] >= low - room && values[values.length - 1] <= high + room) return null;
  return [low - room, high + room];
}

/**
 * Return the range of columns without values that would flatten a chart, such as those before a NaN:
 * farther from most values than these are from each other. Null if they leave the chart its height.
 * @param {Iterable<ArrayLike<number>>} columns
 * @returns {[number, number] | null}
 */
export function calmRangeOf(columns) {
  const ends = calmEnds([...columns].flatMap((column) => Array.from(column)));
  if (!ends) return null;
  const { least, most, smallest } = ends;
  const margin = (most - least || Math.abs(most) || 1) / MARGIN;
  return [smallest >= 0 ? Math.max(least - margin, 0) : least - margin, most + margin];
}

/**
 * Return the ends of the finite values without those far from most of them, how many these are, and the
 * smallest of all. Null if they make the range less than five times as wide.
 * @param {ArrayLike<number>} column
 */
export function calmEnds(column) {
  const values = Float64Array.from(column).filter(Number.isFinite).sort();
  if (values.length < FEWEST) return null;
  const [low, high] = [CUT, 1 - CUT].map((share) => values[Math.round(share * (values.length - 1))]);
  const room = TUKEY * (high - low);
  const inside = values.filter((value) => value >= low - room && value <= high + room);
  const [least, most] = [inside[0], inside[inside.length - 1]];
  if (values[values.length - 1] - values[0] < TIMES * (most - least)) return null;
  return { least, most, outside: values.length - inside.length, smallest: values[0] };
}
