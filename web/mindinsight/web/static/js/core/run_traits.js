// Traits by which runs are told apart, grouped and coloured: hyperparameters and parts of the name.

/** @typedef {import("./types.js").Run} Run */

export const GROUP = "group:"; // the group that a person gave
/** Names of random seeds, with which anything correlates by chance only. */
export const SEED = new RegExp(
  "(^|[:._-])(random_state|seed([:._-](\\d+|all|cuda|data|env|everything|global|init|mindspore|model|np" +
    "|numpy|python|random|torch|train|val|value))?)$",
  "i",
);
const FACT = new RegExp(
  "(^|[:._/-])(dir|directory|path|file|folder|output|logs?|logdir|time|timestamp|date|started|id|uuid|host" +
    "|hostname|port|pid|(run|exp|experiment|job|trial)[_-]?name)$",
  "i",
);
const FACT_TEXT = /[/\\]|^\d{4}-\d\d-\d\d/; // a path or a date
const FEW_RUNS = 12;

/**
 * Return whether a setting only identifies single runs: a random seed, or a name of a run.
 * @param {string} name
 * @param {unknown[]} values one for each run
 */
export const isIncidental = (name, values) => SEED.test(name) || namesRuns(name, values);

/**
 * Return whether a setting names runs: paths, times and other names that most runs have for themselves. The
 * server has the same rule in `curves/setting_separation.py`, and both have the same tests.
 * @param {string} name
 * @param {unknown[]} values one for each run
 */
export function namesRuns(name, values) {
  const known = values.filter((value) => value !== undefined && value !== null);
  if (new Set(known.map(String)).size * 2 <= values.length) return false;
  const texts = known.some((value) => typeof value === "string");
  const texty = texts && (values.length >= FEW_RUNS || known.every((value) => FACT_TEXT.test(String(value))));
  return FACT.test(name) || texty;
}

/**
 * Return a run's value of a trait, or undefined if it has none.
 * @param {Run} run
 * @param {string} by "hyper:<key>", "name:<pattern>", or `GROUP`
 * @returns {unknown} undefined when it has nothing there
 */
export function traitOf(run, by) {
  const [kind, key] = [by.slice(0, by.indexOf(":")), by.slice(by.indexOf(":") + 1)];
  if (kind === "group") return run.group || undefined;
  return kind === "hyper" ? run.hyper[key] : partOf(run.name, key);
}

/**
 * Return the first group of a pattern's match in a name, or the whole match without a group. Return undefined
 * if nothing matches or the pattern is invalid.
 * @param {string} name
 * @param {string} pattern
 */
function partOf(name, pattern) {
  try {
    const match = new RegExp(pattern).exec(name);
    return match ? (match[1] ?? match[0]) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Return the names of all hyperparameters, those that differ between the runs first.
 * @param {Run[]} runs
 * @returns {string[]}
 */
export function hyperNames(runs) {
  /** @type {Map<string, Set<string>>} */
  const values = new Map();
  for (const run of runs) {
    for (const [name, value] of Object.entries(run.hyper ?? {})) {
      if (typeof value !== "object") values.set(name, (values.get(name) ?? new Set()).add(String(value)));
    }
  }
  const differ = (/** @type {string} */ name) => Number((values.get(name)?.size ?? 0) > 1);
  return [...values.keys()].sort((a, b) => differ(b) - differ(a) || a.localeCompare(b));
}

/** Return the names of the hyperparameters that differ between the runs. @param {Run[]} runs */
export function differing(runs) {
  return hyperNames(runs).filter((name) => new Set(runs.map((run) => String(run.hyper?.[name]))).size > 1);
}

/**
 * Return the hyperparameters that differ between the runs that have them, most common first. Of several with
 * equal values in all runs, such as lr and learning_rate, only the shortest name is returned.
 * @param {Run[]} runs
 */
export function telling(runs) {
  const having = (/** @type {string} */ name) => runs.filter((run) => run.hyper?.[name] !== undefined).length;
  /** @type {Map<string, string>} */
  const byValues = new Map();
  const values = (/** @type {string} */ name) => new Set(runs.flatMap((run) => run.hyper?.[name] ?? []));
  const varied = differing(runs).filter((name) => values(name).size > 1);
  // one of the two may have been written in single precision
  const rounded = (/** @type {unknown} */ value) =>
    typeof value === "number" && !Number.isInteger(value) ? Math.fround(value) : (value ?? null);
  const shortest = varied.sort((a, b) => a.length - b.length || a.localeCompare(b));
  for (const name of shortest) {
    const key = JSON.stringify(runs.map((run) => rounded(run.hyper?.[name])));
    if (!byValues.has(key)) byValues.set(key, name);
  }
  return [...byValues.values()].sort((a, b) => having(b) - having(a) || a.localeCompare(b));
}
