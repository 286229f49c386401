// Columns of the lineage table: names, order, and which of them are axes.

import { isOfEvaluation } from "../../components/runs/joined.js";
import { bestEnd } from "../../components/runs/values.js";
import { plainText } from "../../core/format.js";
import { isIncidental, SEED } from "../../core/run_traits.js";

/** @typedef {import("./axes.js").Column} Column */
/** @typedef {import("./axes.js").Row} Row */

const MOST_AXES = 9;
const DECADE = 10; // people try learning rates by factors, not by steps
const RATE = /(^|[:._/-])(lr|learning_?rate|weight_?decay)([:._/-]|$)/i;
const DECADES = 100; // ratio of the largest to the smallest number from which on an axis is logarithmic
/** Name of a column before the tag of a scalar whose last value is the objective. */
export const SCALAR = "scalar:";

/**
 * Return the label of a column. Names given by users stay unchanged.
 * @param {import("../../core/types.js").Translate} t
 * @param {string} key
 */
export function labelOf(t, key) {
  const [group, name] = [key.slice(0, key.indexOf(":")), key.slice(key.indexOf(":") + 1)];
  if (group === "scalar") return t("lineage.last_value", { tag: name });
  return group === "train" || group === "data" ? t(`lineage.column.${name}`) : name;
}

/**
 * Return the first requested objective that is a numeric column or a scalar, otherwise the first of the
 * metrics that most runs have. Without metrics it is the scalar whose name says best that it is a result.
 * @param {{columns: {key: string, numeric: boolean}[], rows: Row[], scalars?: string[]}} table
 * @param {string[]} requested
 * @returns {string | null}
 */
export function objectiveAmong({ columns, rows, scalars = [] }, ...requested) {
  const numeric = columns.filter((column) => column.numeric).map((column) => column.key);
  const first = requested.find((key) => numeric.includes(key) || scalars.includes(tagOf(key)));
  if (first) return first;
  const metrics = numeric.filter((key) => key.startsWith("metric:"));
  const holders = (/** @type {string} */ key) => rows.filter(({ values }) => key in values).length;
  return metrics.find((key) => holders(key) * 2 > rows.length) ?? metrics[0] ?? resultAmong(scalars);
}

/** Return the tag of a key of a scalar; "" for others. @param {string} key */
function tagOf(key) {
  return key.startsWith(SCALAR) ? key.slice(SCALAR.length) : "";
}

/**
 * Return the key of a scalar that is a result: of an evaluation first, then a loss, as on other pages.
 * @param {string[]} tags
 */
function resultAmong(tags) {
  const results = tags.filter((tag) => bestEnd(tag) !== null);
  const merit = (/** @type {string} */ tag) =>
    2 * Number(isOfEvaluation(tag)) + Number(bestEnd(tag) === "min");
  const best = Math.max(...results.map(merit));
  const first = results.find((tag) => merit(tag) === best);
  return first === undefined ? null : SCALAR + first;
}

/**
 * Return the numeric column that matters most for the objective, otherwise the first that varies; "" if there
 * is none.
 * @param {{columns: Column[], rows: Row[], importance: {key: string}[]}} data
 * @param {string} objective
 */
export function topFactor({ columns, rows, importance }, objective) {
  const numeric = new Set(columns.filter((column) => column.numeric).map((column) => column.key));
  const varied = axesShown({ columns, rows }, { axes: [], objective }).filter(({ key }) => key !== objective);
  return [...importance, ...varied].find(({ key }) => numeric.has(key))?.key ?? "";
}

/** Return the columns with the objective first. @param {Column[]} columns @param {string} objective */
export function tableColumns(columns, objective) {
  const first = columns.filter((column) => column.key === objective);
  return [...first, ...columns.filter((column) => column.key !== objective)];
}

/**
 * Return the chosen axes, otherwise the columns that vary, with the objective last. Seeds, paths and times of
 * single runs are axes only where nothing else varies.
 * @param {{columns: Column[], rows: Row[]}} data
 * @param {{axes: string[], objective: string}} state
 */
export function axesShown({ columns, rows }, { axes, objective }) {
  const selected = axes
    .map((key) => columns.find((column) => column.key === key))
    .filter((column) => column !== undefined);
  if (selected.length) return selected;
  const vary = columns.filter((column) => column.key !== objective && different(rows, column.key) > 1);
  const own = (/** @type {Column} */ { key }) =>
    isIncidental(
      key,
      rows.map(({ values }) => values[key]),
    );
  const kinds = vary.filter((column) => !own(column));
  const drawn = kinds.length ? kinds : vary;
  return [...drawn.slice(0, MOST_AXES - 1), ...columns.filter((column) => column.key === objective)];
}

/**
 * Return the values of a numeric column for a chart, null where there is none. Integers beyond 2^53, which
 * arrive as texts, are rounded.
 * @param {Row[]} rows @param {string} key
 * @returns {(number | null)[]}
 */
export function columnNumbers(rows, key) {
  return rows.map((row) => ((row.values[key] ?? null) === null ? null : Number(row.values[key])));
}

/**
 * Return "log" if all values are positive and span two decades, and are spread over these rather than over
 * their range, as factors are. One decade suffices for a learning rate. Otherwise return "linear".
 * @param {unknown[]} values of a column
 * @param {string} [key] of the column
 * @returns {"log" | "linear"}
 */
export function axisType(values, key = "") {
  const numbers = values.flatMap((value) =>
    typeof value === "number" && Number.isFinite(value) ? [value] : [],
  );
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  if (!numbers.length || low <= 0) return "linear";
  if (RATE.test(key)) return high / low >= DECADE ? "log" : "linear";
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const middle = (distinct[(distinct.length - 1) >> 1] + distinct[distinct.length >> 1]) / 2;
  const [factor, range] = [Math.sqrt(low * high), (low + high) / 2]; // middles of both scales
  const spread = distinct.length < 3 || middle < Math.sqrt(factor * range);
  return high / low >= DECADES && spread ? "log" : "linear";
}

/**
 * Return the keys of the logarithmic axes: those that a person chose, and those whose values ask for it
 * unless a person chose otherwise.
 * @param {{columns: Column[], rows: Row[]}} data
 * @param {Set<string>} chosen keys; with "!" before a key that is to be linear
 */
export function logAxes({ columns, rows }, chosen) {
  const wanted = (/** @type {Column} */ { key, numeric }) =>
    numeric && !SEED.test(key) && axisType(columnNumbers(rows, key), key) === "log";
  const isLog = (/** @type {Column} */ column) =>
    chosen.has(column.key) || (!chosen.has(`!${column.key}`) && wanted(column));
  return new Set(columns.filter(isLog).map(({ key }) => key));
}

/** Return the number of distinct values in a column. @param {Row[]} rows @param {string} key */
function different(rows, key) {
  return new Set(
    rows
      .map((row) => row.values[key])
      .filter((value) => value !== undefined && value !== null)
      .map(plainText),
  ).size;
}

/**
 * Return the keys with one moved by some places to the right.
 * @param {string[]} keys
 * @param {string} key
 * @param {number} by
 */
export function moved(keys, key, by) {
  const from = keys.indexOf(key);
  const others = keys.filter((other) => other !== key);
  const to = Math.min(others.length, Math.max(0, from + by));
  return [...others.slice(0, to), key, ...others.slice(to)];
}

/**
 * Sort rows by a column. Missing values and NaN come last in either direction.
 * @param {Row[]} rows
 * @param {string} key
 * @param {boolean} down
 * @returns {Row[]}
 */
export function sortedBy(rows, key, down) {
  const of = (/** @type {Row} */ { values: { [key]: value } }) => INFINITE.get(value) ?? value;
  const missing = (/** @type {Row} */ row) => {
    const value = of(row);
    return value === undefined || value === null || value === "nan" || Number.isNaN(value);
  };
  return [...rows].sort((a, b) =>
    missing(a) || missing(b)
      ? Number(missing(a)) - Number(missing(b))
      : compare(of(a), of(b)) * (down ? -1 : 1),
  );
}

/** Numbers that JSON has as texts, as it has NaN. @type {Map<unknown, number>} */
const INFINITE = new Map([
  ["inf", Infinity],
  ["-inf", -Infinity],
]);

/** Compare two values: numbers by size, texts in natural order. @param {unknown} a @param {unknown} b */
function compare(a, b) {
  return (
    Number(a) - Number(b) || // integers beyond 2^53 are texts
    String(a).localeCompare(String(b), undefined, { numeric: true })
  );
}
