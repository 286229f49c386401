// Criteria of groups: bins of a numeric setting, and the setting by which runs are grouped until somebody
// chooses.

import { isIncidental, telling } from "../../core/run_traits.js";

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {"" | "each" | "decades" | "quarters"} Binning "" suits the values */
/**
 * Bins of numbers: the bin of a value, and the ends of a bin.
 * @typedef {{kind: "decades" | "quarters", of: (value: number) => number,
 *   label: (bin: number) => string[]}} Bins
 */

const FEW = 6; // numbers that are groups of their own
const MOST = 12; // decades that are groups
const DECADES = 100; // from the least to the largest: from there on decades suit
const QUARTERS = 4;
const DIGITS = 4;

/** Return the finite numbers of values, ascending. @param {unknown[]} values */
const numbersOf = (values) =>
  values
    .flatMap((value) => (typeof value === "number" && Number.isFinite(value) ? [value] : []))
    .sort((a, b) => a - b);

/** Return whether values have enough distinct numbers to be put into bins. @param {unknown[]} values */
export function isBinnable(values) {
  return new Set(numbersOf(values)).size > FEW;
}

/**
 * Return the bins of a setting's values, or null if each value is a group.
 * @param {unknown[]} values one for each run
 * @param {Binning} how
 * @returns {Bins | null}
 */
export function binsOf(values, how) {
  const numbers = numbersOf(values);
  if (how === "each" || !isBinnable(numbers)) return null;
  const [low, high] = [numbers[0], numbers[numbers.length - 1]];
  const decade = (/** @type {number} */ value) => Math.floor(Math.log10(value) + 1e-9);
  const wide = low > 0 && decade(high) - decade(low) < MOST;
  if (wide && (how === "decades" || (!how && high / low >= DECADES))) {
    return { kind: "decades", of: decade, label: (bin) => [bin, bin + 1].map((power) => text(10 ** power)) };
  }
  const edges = Array.from({ length: QUARTERS - 1 }, (_, i) =>
    Number(numbers[Math.ceil(((i + 1) * numbers.length) / QUARTERS)]),
  );
  const quarter = (/** @type {number} */ value) => edges.filter((edge) => value >= edge).length;
  const ends = (/** @type {number} */ bin) => numbers.filter((value) => quarter(value) === bin);
  return {
    kind: "quarters",
    of: quarter,
    label: (bin) => [...new Set([ends(bin)[0], ends(bin)[ends(bin).length - 1]].map(text))],
  };
}

/** Return a number as text of few digits. @param {number} value */
export function text(value) {
  return String(Number(value.toPrecision(DIGITS)));
}

/**
 * Return the setting whose groups' last values of a scalar differ most: by the share of the variance of
 * their ranks between groups, corrected for the number of groups. NaN ranks last. Seeds, paths and times are
 * left out. Without values, or with a run for each group, the setting with the fewest groups is returned;
 * undefined without any.
 * @param {Run[]} runs
 * @param {(run: Run) => number | undefined} last
 * @returns {string | undefined}
 */
export function usualSetting(runs, last) {
  const column = (/** @type {string} */ name) => runs.map((run) => run.hyper?.[name]);
  const all = telling(runs);
  const kinds = all.filter((name) => !isIncidental(name, column(name)));
  const known = runs.filter((run) => last(run) !== undefined);
  const rank = ranks(known.map((run) => Number(last(run))));
  const scored = (kinds.length ? kinds : all).map((name) => {
    const values = column(name);
    const bins = binsOf(values, "");
    const key = (/** @type {unknown} */ value) =>
      String(bins && typeof value === "number" ? bins.of(value) : value);
    const labels = known.map((run) => key(run.hyper?.[name]));
    return { name, groups: new Set(values.map(key)).size, score: betweenGroups(labels, rank) };
  });
  scored.sort((a, b) => b.score - a.score || a.groups - b.groups || a.name.localeCompare(b.name));
  return scored[0]?.name;
}

/**
 * Return the ranks of values, equal ones with the mean of theirs. What is not finite ranks last.
 * @param {number[]} values
 */
function ranks(values) {
  const order = (/** @type {number} */ value) => (Number.isFinite(value) ? value : Infinity);
  const sorted = values.map(order).sort((a, b) => (a === b ? 0 : a - b));
  return values.map((value) => (sorted.indexOf(order(value)) + sorted.lastIndexOf(order(value))) / 2);
}

/**
 * Return the share of the variance that is between groups, without what as many groups have by chance
 * (epsilon squared); 0 if there are too few values.
 * @param {string[]} labels
 * @param {number[]} values
 */
function betweenGroups(labels, values) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  labels.forEach((label, i) => groups.set(label, [...(groups.get(label) ?? []), values[i]]));
  const [n, k] = [values.length, groups.size];
  const mean = (/** @type {number[]} */ part) => part.reduce((sum, value) => sum + value, 0) / part.length;
  const middle = mean(values);
  const total = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  if (n <= k || k < 2 || !(total > 0)) return 0;
  const between = [...groups.values()].reduce(
    (sum, part) => sum + part.length * (mean(part) - middle) ** 2,
    0,
  );
  return Math.max(0, 1 - ((1 - between / total) * (n - 1)) / (n - k));
}
