// Search for runs: words, /regular expressions/ and comparisons such as loss<0.1 lr>=1e-3.

import { faultOf } from "../../core/patterns.js";

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {{text: string} | {regex: RegExp} | {name: string, op: string, value: string}} Term */
/** @typedef {(run: Run, name: string) => unknown} Lookup what a run has under a name, or undefined */

/** Error for an invalid regular expression. */
export class PatternError extends SyntaxError {
  /** @param {string} pattern */
  constructor(pattern) {
    super(pattern);
    this.pattern = pattern;
  }
}

const COMPARISON = /^("[^"]+"|[^"<>=!\s]+)(<=|>=|!=|==|=|<|>)(.*)$/;
const STATE = /^(state):()(.+)$/i; // as others write state=failed
const FACTORS = { "%": 0.01, k: 1e3, M: 1e6, G: 1e9, s: 1, min: 60, h: 3600, d: 86_400 };
const NUMBER = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(%|k|M|G|s|min|h|d|kB|KB|MB|GB|TB|B)?$/i;
const INFINITY = /^([+-]?)(?:inf|infinity|∞)$/i;

/**
 * Parse a search into terms separated by spaces. Throws PatternError for an invalid regular expression.
 * @param {string} text
 * @returns {Term[]}
 */
export function parseQuery(text) {
  return (text.match(/\/(?:[^/\\]|\\.)+\/i?(?=\s|$)|(?:"[^"]*"|\S)+/g) ?? []).map(parseTerm);
}

/** Parse one term. @param {string} word @returns {Term} */
function parseTerm(word) {
  const pattern = /^\/(.+)\/(i?)$/.exec(word);
  if (pattern) {
    if (faultOf(pattern[1])) throw new PatternError(pattern[1]);
    return { regex: new RegExp(pattern[1], pattern[2]) };
  }
  const comparison = COMPARISON.exec(word) ?? STATE.exec(word);
  if (comparison) {
    return { name: unquoted(comparison[1]), op: comparison[2] || "=", value: unquoted(comparison[3]) };
  }
  return { text: unquoted(word).toLowerCase() };
}

/** Return a word without quotes around it. @param {string} word */
function unquoted(word) {
  return word.replace(/^"|"$/g, "");
}

/**
 * Return the number that a person wrote, such as 1e-3, 50%, 12.8kB, 2h or -inf; NaN for other texts. Bytes
 * count by 1000, as the table shows them.
 * @param {string} text
 */
export function numberIn(text) {
  const written = text.trim().replace("−", "-");
  const infinite = INFINITY.exec(written);
  if (infinite) return infinite[1] === "-" ? -Infinity : Infinity;
  const match = NUMBER.exec(written);
  if (!match) return NaN;
  const unit = (match[2] ?? "").replace(/(?<=.)B$/i, "");
  const factors = /** @type {Record<string, number>} */ ({
    ...FACTORS,
    K: 1e3,
    m: 1e6,
    g: 1e9,
    T: 1e12,
    B: 1,
  });
  const number = Number(match[1]) * (factors[unit] ?? 1);
  return Number.isFinite(number) ? number : NaN; // 1e400 is no number that a value can be compared with
}

/** Return the comparisons by size that name no number, such as lr> and lr>abc. @param {Term[]} terms */
export function withoutNumber(terms) {
  return terms.flatMap((term) =>
    "op" in term && (term.value === "" || (/[<>]/.test(term.op) && Number.isNaN(numberIn(term.value))))
      ? [`${term.name}${term.op}${term.value}`]
      : [],
  );
}

/** Return the names that a search compares. @param {Term[]} terms @returns {string[]} */
export function namesIn(terms) {
  return terms.flatMap((term) => ("name" in term ? [term.name] : []));
}

/**
 * Return the compared names that no run has.
 * @param {Term[]} terms
 * @param {Run[]} runs
 * @param {Lookup} lookup
 */
export function unknownNames(terms, runs, lookup) {
  const has = (/** @type {string} */ name) => runs.some((run) => (lookup(run, name) ?? null) !== null);
  return [...new Set(namesIn(terms))].filter((name) => !has(name));
}

/**
 * Return whether a run matches all terms.
 * @param {Term[]} terms
 * @param {Run} run
 * @param {Lookup} lookup
 * @param {Record<string, string>} [words] what a page calls the states
 */
export function matchesQuery(terms, run, lookup, words = {}) {
  return terms.every((term) => termHolds(term, run, lookup, words));
}

/**
 * Return whether a run matches one term.
 * @param {Term} term
 * @param {Run} run
 * @param {Lookup} lookup
 * @param {Record<string, string>} words
 */
function termHolds(term, run, lookup, words) {
  if ("text" in term) {
    const found = texts(run).some((text) => holds(text, term.text));
    return found || hasSetting(run, term.text) || lookup(run, "state") === stateNamed(term.text, words);
  }
  if ("regex" in term) return texts(run).some((text) => term.regex.test(text));
  const value = term.name === "state" ? stateNamed(term.value, words) : term.value;
  return compare(lookup(run, term.name), term.op, value);
}

/**
 * Return the state with this name on the page; other words are returned unchanged.
 * @param {string} word
 * @param {Record<string, string>} words
 */
function stateNamed(word, words) {
  const same = Object.entries(words).find(([, name]) => name.toLowerCase() === word.toLowerCase());
  return same ? same[0] : word;
}

/**
 * Return whether a setting of the run holds a word in its text, or equals it as a number.
 * @param {Run} run
 * @param {string} word lower case
 */
function hasSetting(run, word) {
  const number = numberIn(word);
  return Object.values(run.hyper ?? {}).some((value) =>
    typeof value === "number" ? isEqual(number, value) : typeof value === "string" && holds(value, word),
  );
}

/** Return whether a text holds a word, whatever its case. @param {string} text @param {string} word */
function holds(text, word) {
  return text.toLowerCase().includes(word);
}

/** Signs of comparisons as they are read. @type {Record<string, string>} */
const SIGNS = { "==": "=", "!=": "≠", "<=": "≤", ">=": "≥" };

/**
 * Describe each term as it was understood: a key of the texts and its values.
 * @param {Term[]} terms
 * @param {Record<string, string>} [words] what a page calls the states
 * @returns {{key: string, values: Record<string, unknown>}[]}
 */
export function understood(terms, words = {}) {
  return terms.map((term) => {
    if ("text" in term) return { key: "runs.search.word", values: { word: term.text } };
    if ("regex" in term) return { key: "runs.search.pattern", values: { pattern: String(term.regex) } };
    const { name, op, value } = term;
    const number = numberIn(value);
    const state = name === "state" ? (words[stateNamed(value, words)] ?? value) : value;
    const shown = Number.isNaN(number) ? state : String(number).replace("-", "−");
    return { key: "runs.search.comparison", values: { name, sign: SIGNS[op] ?? op, value: shown } };
  });
}

/** Return the texts of a run in which a search looks for words. @param {Run} run */
function texts(run) {
  return [run.id.replace(/^\.\//, "") || run.id, run.name ?? "", run.group ?? "", run.note, ...run.labels];
}

/**
 * Return whether a comparison holds. A missing value only satisfies !=.
 * @param {unknown} have
 * @param {string} op
 * @param {string} want
 */
function compare(have, op, want) {
  if (have === undefined || have === null) return op === "!=";
  const [mine, theirs] = [typeof have === "string" ? numberIn(have) : have, numberIn(want)];
  if (typeof mine === "number" && !Number.isNaN(mine) && !Number.isNaN(theirs)) {
    return NUMERIC[op](mine, theirs);
  }
  const equal = String(have).toLowerCase() === want.toLowerCase();
  if (op === "=" || op === "==") return equal;
  return op === "!=" && !equal;
}

/**
 * Returns whether two numbers are equal as float32, which files have: 0.02 is the value nearest to it there.
 * @param {number} a @param {number} b
 */
function isEqual(a, b) {
  return a === b || a === Math.fround(b);
}

/** @type {Record<string, (a: number, b: number) => boolean>} */
const NUMERIC = {
  "<": (a, b) => a < b && !isEqual(a, b),
  "<=": (a, b) => a <= b || isEqual(a, b),
  ">": (a, b) => a > b && !isEqual(a, b),
  ">=": (a, b) => a >= b || isEqual(a, b),
  "=": isEqual,
  "==": isEqual,
  "!=": (a, b) => !isEqual(a, b),
};
