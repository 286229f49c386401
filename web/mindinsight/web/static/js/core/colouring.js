// Colouring of runs by a hyperparameter, the last value of a scalar, or a part of the run's name.

import { column, get } from "./api.js";
import { between, COLOURS } from "./colours.js";
import { latest, leaveAsIs } from "./latest.js";
import { traitOf } from "./run_traits.js";

/** @typedef {import("./types.js").Run} Run */
/** @typedef {{label: string, colour: string, n: number}} Entry */
/** @typedef {{low: number, high: number, log: boolean, stops: string[]}} Range */
/**
 * @typedef {Object} Colours
 * @property {Map<string, string>} of
 * @property {Entry[]} entries
 * @property {Range | null} range
 * @property {number} without runs that have no value
 */

const FEW = 5; // different numbers that are told apart better than compared
const STOPS = 5; // of the ramp
const DECADES = 100; // from the least to the largest: beyond, small ones would all look the same

/**
 * Assign a colour to each run by its value: a colour scale for many numbers, a palette for few values or
 * texts. Runs without a value are gray and counted in `without`.
 * @param {Run[]} runs
 * @param {(run: Run) => unknown} valueOf
 * @param {(variable: string) => string} colour of the design system
 * @returns {Colours}
 */
export function coloured(runs, valueOf, colour) {
  const having = runs
    .map((run) => ({ id: run.id, value: clean(valueOf(run)) }))
    .filter(({ value }) => value !== null);
  const values = [...new Set(having.map(({ value }) => value))];
  const ramp = values.length > FEW && values.every(isNumber);
  const range = ramp ? rangeOf(values.map(Number), colour) : null;
  const entries = ramp
    ? []
    : entriesOf(
        having.map(({ value }) => value),
        values,
        colour,
      );
  /** Return the colours in effect, or null if each run has a colour of its own. */
  const colours = new Map(entries.map((entry) => [entry.label, entry.colour]));
  const of = new Map(runs.map((run) => [run.id, colour("--muted")]));
  for (const { id, value } of having) {
    of.set(id, (range ? inRange(range, Number(value)) : colours.get(String(value))) ?? "");
  }
  return { of, entries, range, without: runs.length - having.length };
}

/** Return whether a value is a number, or an integer beyond 2^53 as text. @param {unknown} value */
const isNumber = (value) => typeof value === "number" || /^-?\d{16,}$/.test(String(value));

/**
 * Return a value as a number or text, or null if it is missing or NaN.
 * @param {unknown} value
 * @returns {number | string | null}
 */
function clean(value) {
  if (value === undefined || value === null || value === "" || Number.isNaN(value)) return null;
  return typeof value === "number"
    ? value
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
}

/**
 * Return the colour scale for a list of numbers. It is logarithmic if positive values span two decades.
 * @param {number[]} values
 * @param {(variable: string) => string} colour
 * @returns {Range}
 */
function rangeOf(values, colour) {
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  return {
    low,
    high,
    log: low > 0 && high / low >= DECADES,
    stops: Array.from({ length: STOPS }, (_, i) => colour(`--ramp-${i + 1}`)),
  };
}

/**
 * Return a value's colour on the scale. Infinite values get the colour of the nearest end.
 * @param {Range} range
 * @param {number} value
 */
function inRange({ low, high, log, stops }, value) {
  const to = log ? Math.log : Number;
  const share = Number.isFinite(value)
    ? (to(value) - to(low)) / (to(high) - to(low) || 1)
    : Number(value > 0);
  return between(
    stops.map((stop, i) => [i / (STOPS - 1), stop]),
    share,
  );
}

/**
 * Return the legend of distinct values: label, colour and number of runs, sorted by value.
 * @param {unknown[]} cells
 * @param {unknown[]} values different ones
 * @param {(variable: string) => string} colour
 * @returns {Entry[]}
 */
function entriesOf(cells, values, colour) {
  const sorted = [...values].sort((a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true }),
  );
  return sorted.map((value, i) => ({
    label: String(value),
    colour: colour(`--run-${(i % COLOURS) + 1}`),
    n: cells.filter((cell) => cell === value).length,
  }));
}

/** Current colouring of runs, by the user's choice in the address or by the groups of the page. */
export class Colouring {
  #url;
  #theme;
  /** @type {Run[]} */
  #runs = [];
  /** @type {Colours | null} */
  #entries = null;
  /** What a page groups runs by, while it shows groups. @type {{by: string, colours: Colours} | null} */
  #groups = null;
  /** Last values of the scalar that colours, by run. @type {Map<string, number>} */
  #last = new Map();
  /** @type {string | null} */
  #tag = null;
  /** @type {ReturnType<typeof latest> | null} */
  #requests = null;

  /** @param {import("./url.js").Url} url @param {import("./theme.js").Theme} theme */
  constructor(url, theme) {
    this.#url = url;
    this.#theme = theme;
    theme.on(() => (this.#entries = null));
  }

  /**
   * Return the chosen criterion: "hyper:<key>", "last:<tag>", "name:<pattern>", or "" for a colour per run.
   */
  by() {
    return this.#url.get("colour", "");
  }

  /**
   * Choose the criterion, store it in the address and redraw everything in the new colours.
   * @param {string} by
   */
  choose(by) {
    this.#url.set({ colour: by });
    this.#load();
    this.#theme.changed();
  }

  /** Whether lines of one colour have dashes. */
  dashed() {
    return this.#url.get("dash") === "1" && !this.colours();
  }

  /** @param {boolean} on */
  useDashes(on) {
    this.#url.set({ dash: on ? "1" : null });
    this.#theme.changed();
  }

  /** Recompute the colours for a new list of shown runs. @param {Run[]} runs shown */
  follow(runs) {
    this.#runs = runs;
    this.#entries = null;
    this.#load();
  }

  /** Return the criterion in effect: the groups' of the page, otherwise the user's. */
  shownBy() {
    return this.#groups?.by ?? this.by();
  }

  /** Return the colours of the groups on the page, or null if the page shows single runs. */
  groups() {
    return this.#groups?.colours ?? null;
  }

  /**
   * Give all runs the colours of their groups while a page shows groups; null ends that.
   * @param {{by: string, colours: Colours} | null} groups
   */
  showGroups(groups) {
    const text = (/** @type {typeof groups} */ of) => JSON.stringify(of && [of.by, ...of.colours.of]);
    const changed = text(groups) !== text(this.#groups);
    this.#groups = groups;
    if (changed) this.#theme.changed();
  }

  /** @returns {Colours | null} null when each run has a colour of its own */
  colours() {
    if (this.#groups) return this.#groups.colours;
    const by = this.by();
    if (!by) return null;
    const valueOf = by.startsWith("last:")
      ? (/** @type {Run} */ run) => this.#last.get(run.id)
      : (/** @type {Run} */ run) => traitOf(run, by);
    this.#entries ??= coloured(this.#runs, valueOf, (variable) => this.#theme.colour(variable));
    return this.#entries;
  }

  /** Request the last values of the scalar that colours the runs, if one does. */
  #load() {
    const by = this.by();
    this.#requests ??= latest(document.documentElement);
    const tag = by.startsWith("last:") ? by.slice("last:".length) : null;
    if (tag !== this.#tag) [this.#tag, this.#last] = [tag, new Map()];
    if (tag === null) this.#requests.end();
    else {
      this.#requests.ask(
        (signal) => get("v2/runs/columns", { tag: [tag] }, { signal }),
        ({ tables }) => this.#take(tables[tag]),
        leaveAsIs,
      );
    }
  }

  /**
   * Store the last values, and redraw if they differ.
   * @param {{runs: string[], last: import("./types.js").Column}} table
   */
  #take({ runs, last }) {
    const values = column(last);
    const before = JSON.stringify([...this.#last]);
    this.#last = new Map(runs.map((run, i) => [run, values[i]]));
    if (JSON.stringify([...this.#last]) !== before) this.#theme.changed();
  }
}
