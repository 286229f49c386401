// The search of the runs table: words, /regular expressions/, and comparisons such as loss<0.1 lr>=1e-3.

import { faultOf } from "../../core/patterns.js";

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {{text: string} | {regex: RegExp} | {name: string, op: string, value: string}} Term */
/** @typedef {(run: Run, name: string) => any} Lookup what a run has under a name; undefined when nothing */

/** Error: a regular expression that is none. */
export class PatternError extends SyntaxError {
  /** @param {string} pattern */
  constructor(pattern) {
    super(pattern);
    this.pattern = pattern;
  }
}

const COMPARISON = /^([^<>=!\s]+)(<=|>=|!=|==|=|<|>)(.+)$/;

/**
 * Terms are separated by spaces; all must hold. Throws PatternError for a broken regular expression.
 * @param {string} text
 * @returns {Term[]}
 */
export function parseQuery(text) {
  return (text.match(/\/(?:[^/\\]|\\.)+\/i?(?=\s|$)|(?:"[^"]*"|\S)+/g) ?? []).map(parseTerm);
}

/** @param {string} word @returns {Term} */
function parseTerm(word) {
  const pattern = /^\/(.+)\/(i?)$/.exec(word);
  if (pattern) {
    if (faultOf(pattern[1])) throw new PatternError(pattern[1]);
    return { regex: new RegExp(pattern[1], pattern[2]) };
  }
  const comparison = COMPARISON.exec(word);
  if (comparison) {
    return { name: comparison[1], op: comparison[2], value: comparison[3].replace(/^"|"$/g, "") };
  }
  return { text: word.replace(/^"|"$/g, "").toLowerCase() };
}

/** The names a query compares, for which values are needed. @param {Term[]} terms @returns {string[]} */
export function namesIn(terms) {
  return terms.flatMap((term) => ("name" in term ? [term.name] : []));
}

/**
 * The names a query compares that none of the runs has.
 * @param {Term[]} terms @param {Run[]} runs @param {Lookup} lookup
 */
export function unknownNames(terms, runs, lookup) {
  const has = (/** @type {string} */ name) => runs.some((run) => (lookup(run, name) ?? null) !== null);
  return [...new Set(namesIn(terms))].filter((name) => !has(name));
}

/**
 * @param {Term[]} terms @param {Run} run @param {Lookup} lookup
 * @param {Record<string, string>} [words] what a page calls the states
 */
export function matchesQuery(terms, run, lookup, words = {}) {
  return terms.every((term) => termHolds(term, run, lookup, words));
}

/** @param {Term} term @param {Run} run @param {Lookup} lookup @param {Record<string, string>} words */
function termHolds(term, run, lookup, words) {
  if ("text" in term) {
    const found = texts(run).some((text) => text.toLowerCase().includes(term.text));
    return found || lookup(run, "state") === stateNamed(term.text, words);
  }
  if ("regex" in term) return texts(run).some((text) => term.regex.test(text));
  const value = term.name === "state" ? stateNamed(term.value, words) : term.value;
  return compare(lookup(run, term.name), term.op, value);
}

/**
 * The state that a page calls so; other words as they are.
 * @param {string} word @param {Record<string, string>} words
 */
function stateNamed(word, words) {
  const same = Object.entries(words).find(([, name]) => name.toLowerCase() === word.toLowerCase());
  return same ? same[0] : word;
}

/** What a search looks at: the name as it is shown, note and labels. @param {Run} run */
function texts(run) {
  return [run.id.replace(/^\.\//, "") || run.id, run.note, ...run.labels];
}

/** @param {any} have @param {string} op @param {string} want */
function compare(have, op, want) {
  if (have === undefined || have === null) return op === "!=";
  const number = Number(want);
  const numeric = typeof have === "number" && want.trim() !== "" && !Number.isNaN(number);
  if (numeric) return NUMERIC[op](have, number);
  const equal = String(have).toLowerCase() === want.toLowerCase();
  if (op === "=" || op === "==") return equal;
  return op === "!=" && !equal;
}

/** @type {Record<string, (a: number, b: number) => boolean>} */
const NUMERIC = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};
