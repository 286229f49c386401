// State of a view in the address, so that a copied link shows the same picture.

import { tell } from "./dom.js";

/** @typedef {string | number | boolean | string[] | null | undefined} Value */

/** The parameters one view shares with all others. */
const SHARED = ["runs", "ranks", "colour"];

/** What somebody looks at, not how: no settings. */
const PLACES = ["z", "zy", "at", "step", "tag", "run", "job", "baseline"];

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
   * @template {string | null} [D=null]
   * @param {string} key @param {D} [fallback]
   * @returns {string | D}
   */
  get(key, fallback = /** @type {any} */ (null)) {
    return this.#current().get(key) ?? fallback;
  }

  /** All values of a repeated key. @param {string} key @returns {string[]} */
  all(key) {
    return this.#current().getAll(key);
  }

  /**
   * Change keys in place; null, undefined, "" and [] take a key out. Leave defaults out.
   * @param {Record<string, Value>} values
   */
  set(values) {
    const params = this.params();
    Object.entries(values).forEach(([key, value]) => setParam(params, key, value));
    this.write(readable(params));
  }

  /** What of the query are settings of the view: how it shows things, whatever is shown. */
  settings() {
    const params = this.params();
    [...SHARED, ...PLACES].forEach((key) => params.delete(key));
    return readable(params);
  }

  /** Settings for a view that was opened without anything of its own. @param {string | undefined} query */
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

  /** Make a query that of the page. @param {string} text */
  write(text) {
    const address = location.pathname + (text ? `?${text}` : "") + location.hash;
    if (address !== location.pathname + location.search + location.hash) {
      history.replaceState(history.state, "", address);
    }
  }

  /** Called when the user goes back or forward inside one view. @param {() => void} callback */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** The user has gone back or forward. */
  changed() {
    tell(this.#callbacks, undefined);
  }

  /** Remember what a view looked like when it is left. @param {string} view */
  leave(view) {
    this.#lastParams.set(view, location.search);
  }

  /**
   * The address of a view: what is shared, what the view looked like when left, or what is given.
   * @param {string} view @param {Record<string, Value>} [overrides]
   */
  link(view, overrides = {}) {
    const params = new URLSearchParams(Object.keys(overrides).length ? "" : this.#lastParams.get(view));
    SHARED.forEach((key) => setParam(params, key, this.get(key)));
    Object.entries(overrides).forEach(([key, value]) => setParam(params, key, value));
    return this.at(view, readable(params));
  }

  /** The address of a view with a whole query. @param {string} view @param {string} text */
  at(view, text) {
    return (view === "runs" ? "./" : `./${view}`) + (text ? `?${text}` : "");
  }
}

/** @param {URLSearchParams} params @param {string} key @param {Value} value */
function setParam(params, key, value) {
  params.delete(key);
  for (const item of Array.isArray(value) ? value : [value]) {
    if (item !== null && item !== undefined && item !== "") params.append(key, String(item));
  }
}

/** Short and legible: "/", ",", ":" and "!" need no escape in a query. @param {URLSearchParams} params */
function readable(params) {
  return params
    .toString()
    .replaceAll("%2F", "/")
    .replaceAll("%2C", ",")
    .replaceAll("%3A", ":")
    .replaceAll("%21", "!");
}
