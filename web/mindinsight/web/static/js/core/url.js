// State of a view in the address, so that a copied link shows the same picture.

import { tell } from "./dom.js";

/** @typedef {string | number | boolean | string[] | null | undefined} Value */

/** The parameters one view shares with all others. */
const SHARED = ["runs", "ranks", "colour"];

/** What somebody looks at, not how: no settings. */
const PLACES = ["z", "zy", "at", "step", "tag", "run", "job", "baseline"];

/** Query of the window's address. */
export class Url {
  /** @type {Map<string, string>} view -> its query when it was left */
  #lastParams = new Map();
  /** @type {Set<() => void>} */
  #callbacks = new Set();
  #search = "";
  #read = new URLSearchParams();

  /** The parameters, to be read only: they are asked for once for each curve. */
  #current() {
    if (location.search !== this.#search) {
      this.#search = location.search;
      this.#read = this.params();
    }
    return this.#read;
  }

  /**
   * Return a parameter's value, or `fallback` if it is missing.
   * @template {string | null} [D=null]
   * @param {string} key
   * @param {D} [fallback]
   * @returns {string | D}
   */
  get(key, fallback = /** @type {any} */ (null)) {
    return this.#current().get(key) ?? fallback;
  }

  /** Return all values of a repeated parameter. @param {string} key @returns {string[]} */
  all(key) {
    return this.#current().getAll(key);
  }

  /**
   * Set parameters without adding to the browser's history. Null, undefined, "" and [] remove one.
   * @param {Record<string, Value>} values
   */
  set(values) {
    /** Return the parameters of the window's address. */
    const params = this.params();
    Object.entries(values).forEach(([key, value]) => setParam(params, key, value));
    this.write(readable(params));
  }

  /** Return the part of the query that says how things are shown, without which runs, tags and steps. */
  settings() {
    const params = this.params();
    [...SHARED, ...PLACES].forEach((key) => params.delete(key));
    return readable(params);
  }

  /** Apply a view's default settings if its address has none of its own. @param {string | undefined} query */
  fill(query) {
    const params = this.params();
    if (!query || [...params.keys()].some((key) => !SHARED.includes(key))) return;
    new URLSearchParams(query).forEach((value, key) => params.append(key, value));
    this.write(readable(params));
  }

  /** @returns {URLSearchParams} */
  params() {
    return new URLSearchParams(location.search);
  }

  /** Replace the query of the window's address. @param {string} text */
  write(text) {
    const address = location.pathname + (text ? `?${text}` : "") + location.hash;
    if (address !== location.pathname + location.search + location.hash) {
      history.replaceState(history.state, "", address);
    }
  }

  /**
   * Subscribe to the browser's back and forward within a view. Return a function that unsubscribes.
   * @param {() => void} callback
   */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Tell subscribers that the address has changed. */
  changed() {
    tell(this.#callbacks, undefined);
  }

  /** Remember the query of a view that is being left. @param {string} view */
  leave(view) {
    this.#lastParams.set(view, location.search);
  }

  /**
   * Return the address of a view: the shared parameters, and either `overrides` or the query with which the
   * view was left.
   * @param {string} view
   * @param {Record<string, Value>} [overrides]
   */
  link(view, overrides = {}) {
    const params = new URLSearchParams(Object.keys(overrides).length ? "" : this.#lastParams.get(view));
    SHARED.forEach((key) => setParam(params, key, this.get(key)));
    Object.entries(overrides).forEach(([key, value]) => setParam(params, key, value));
    return this.at(view, readable(params));
  }

  /** Return the address of a view with a complete query. @param {string} view @param {string} text */
  at(view, text) {
    return (view === "runs" ? "./" : `./${view}`) + (text ? `?${text}` : "");
  }
}

/**
 * Set a parameter. Lists become repeated parameters; empty values remove it.
 * @param {URLSearchParams} params
 * @param {string} key
 * @param {Value} value
 */
function setParam(params, key, value) {
  params.delete(key);
  for (const item of Array.isArray(value) ? value : [value]) {
    if (item !== null && item !== undefined && item !== "") params.append(key, String(item));
  }
}

/**
 * Return the query as text, without escapes for "/", ",", ":" and "!", which are valid in a query.
 * @param {URLSearchParams} params
 */
function readable(params) {
  return params
    .toString()
    .replaceAll("%2F", "/")
    .replaceAll("%2C", ",")
    .replaceAll("%3A", ":")
    .replaceAll("%21", "!");
}
