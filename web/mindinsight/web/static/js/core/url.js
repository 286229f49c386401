// State of a view in the address, so that a copied link shows the same picture.

import { tell } from "./dom.js";
import { COPY } from "./copy.js";
import { idOf, writeChoice } from "./names.js";

/** @typedef {string | number | boolean | string[] | null | undefined} Value */

/** The parameters one view shares with all others. */
const SHARED = ["runs", "ranks", "colour", "dash"];

/** Pages that are tomorrow as they were left; on others the address is about what is looked at. */
const REMEMBERED = ["runs", "scalar", "system", "histogram", "image", "text", "audio", "pr_curve"];

/** Runs whose colours are kept. */
const MOST_COLOURS = 1000;

/** What somebody looks at, not how: no settings. */
const PLACES = ["z", "zy", "at", "step", "tag", "run", "job", "baseline"];

/** Which runs are shown, since when, the settings of pages, and the numbers of runs' colours. */
const NOTHING = {
  shared: "",
  chosen: 0,
  views: /** @type {Record<string, string>} */ ({}),
  colours: /** @type {[string, number][]} */ ([]),
};

/**
 * Return the name of the page at a path below the pages' folder; a copy has files.
 * @param {string} path "scalar", "scalar.html" or ""
 */
export function viewAt(path) {
  const name = COPY ? path.replace(/\.html$/, "").replace(/^index$/, "") : path;
  return name || "runs";
}

/** Return the name of the page that the window shows. */
const currentView = () => viewAt(location.pathname.replace(/.*\//, ""));

/** Query of the window's address. */
export class Url {
  /** @type {Map<string, string>} view -> its query when it was left */
  #lastParams = new Map();
  /** @type {Set<() => void>} */
  #callbacks = new Set();
  /** Name of what is kept in this browser, once the base directory is known. @type {string | null} */
  #store = null;
  #search = "";
  #read = new URLSearchParams();

  /** The parameters, to be read only: they are asked for once for each curve. */
  #current() {
    const search = this.search();
    if (search !== this.#search) {
      this.#search = search;
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
  get(key, fallback = /** @type {D} */ (null)) {
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

  /**
   * Set parameters, and add an entry to the browser's history if one changes.
   * @param {Record<string, Value>} values
   */
  step(values) {
    const params = this.params();
    Object.entries(values).forEach(([key, value]) => setParam(params, key, value));
    if (readable(params) !== readable(this.params())) history.pushState(null, "", location.href);
    this.set(values);
  }

  /** Return the part of the query that says how things are shown, without which runs, tags and steps. */
  settings() {
    const params = this.params();
    [...SHARED, ...PLACES].forEach((key) => params.delete(key));
    return readable(params);
  }

  /**
   * Apply a view's default settings if its address has none of its own.
   * @param {string} view
   * @param {string | undefined} settings
   */
  fill(view, settings) {
    const params = this.params();
    const query = this.#kept().views[view] ?? settings;
    if (!query || [...params.keys()].some((key) => !SHARED.includes(key))) return;
    new URLSearchParams(query).forEach((value, key) => params.append(key, value));
    this.#replace(readable(params));
  }

  /**
   * From now on keep in this browser what somebody arranges on the pages of a base directory. An address that
   * says nothing shows the runs that were shown last.
   * @param {string} base
   * @returns {number | null} when they were chosen, in epoch seconds; null where the address says it
   */
  remember(base) {
    this.#store = `mindinsight pages of ${base}`;
    const { shared, chosen } = this.#kept();
    if (this.search() || !shared) return null;
    this.#replace(shared);
    return chosen;
  }

  /** Show the runs that `run` names, on a page that shows chosen runs and would ignore it. */
  chooseNamed() {
    const params = this.params();
    const names = params.getAll("run");
    if (!names.length || params.has("runs") || !REMEMBERED.includes(currentView())) return;
    params.delete("run");
    params.set("runs", writeChoice({ inverted: false, ids: new Set(names.map(idOf)) }));
    this.#replace(readable(params));
  }

  /** Whether a page is not as it is at first. @param {string} view */
  arranged(view) {
    const { shared, views } = this.#kept();
    return Boolean(shared || views[view]);
  }

  /** Forget how a page was left, and which runs were shown. @param {string} view */
  forget(view) {
    const { views, colours } = this.#kept();
    delete views[view];
    this.#keep({ ...NOTHING, views, colours });
    this.#lastParams.delete(view);
  }

  /** Numbers of the colours that runs were given. @returns {[string, number][]} */
  colours() {
    return this.#kept().colours;
  }

  /** @param {[string, number][]} colours the newest last */
  keepColours(colours) {
    this.#keep({ ...this.#kept(), colours: colours.slice(-MOST_COLOURS) });
  }

  /** @returns {typeof NOTHING} */
  #kept() {
    try {
      return { ...NOTHING, ...JSON.parse((this.#store && localStorage.getItem(this.#store)) || "{}") };
    } catch {
      return NOTHING; // a browser that keeps nothing for us
    }
  }

  /** @param {typeof NOTHING} kept */
  #keep(kept) {
    try {
      if (this.#store) localStorage.setItem(this.#store, JSON.stringify(kept));
    } catch {
      // It counts for this page, then.
    }
  }

  /** The query with its "?". */
  search() {
    return location.search;
  }

  /** @returns {URLSearchParams} */
  params() {
    return new URLSearchParams(this.search());
  }

  /** Replace the query of the window's address. @param {string} text */
  write(text) {
    /** Tell subscribers that the address has changed. */
    const changed = text !== readable(this.params());
    this.#replace(text);
    if (!changed) return;
    const { shared: before, chosen, views, colours } = this.#kept();
    const view = currentView();
    const params = this.params();
    [...params.keys()].forEach((key) => SHARED.includes(key) || params.delete(key));
    const shared = readable(params);
    this.#keep({
      shared,
      colours,
      chosen: shared === before ? chosen : Date.now() / 1000,
      views: REMEMBERED.includes(view) ? { ...views, [view]: this.settings() } : views,
    });
  }

  /** @param {string} text */
  #replace(text) {
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
    const [first, ending] = COPY ? ["index", ".html"] : ["", ""];
    return `./${view === "runs" ? first : view}${ending}${text ? `?${text}` : ""}`;
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
