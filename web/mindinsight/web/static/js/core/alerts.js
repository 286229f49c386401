// Alerts of all runs: the number of unread ones, and those that arrived since the page was opened.
//
// The browser's storage holds the time of the newest alert that was shown and the runs whose alerts are
// muted.

import { get } from "./api.js";
import { throttle, tell } from "./dom.js";
import { latest, leaveAsIs } from "./latest.js";
import { notificationState } from "./notifications.js";

/**
 * @typedef {Object} Alert
 * @property {string} id
 * @property {string} run
 * @property {"info" | "warning" | "error"} level
 * @property {number} step
 * @property {number | string} wall Unix seconds
 * @property {string} title of the training code; "" for a rule's
 * @property {string} text
 * @property {string | null} rule id
 * @property {"not_finite" | "above" | "below" | "silent" | "strays" | "failed" | null} condition of the rule
 * @property {number | null} limit of the rule
 * @property {string | null} tag
 * @property {number | string | null} value of the first point; text when it is not finite
 * @property {number} count points
 * @property {boolean} replaced a restart recorded other values for these steps
 * @property {boolean} ongoing
 * @property {import("./claims.js").Claim | null} [recovery] of a rule over scalars
 * @property {string | null} [dump] id of the dump of this step
 * @property {number | null} [dump_rank]
 * @property {import("./types.js").Stray | null} [stray] of a rule over the ranks of a job
 * @property {string | null} [other_run] of two ranks that differ from each other, the second
 * @property {import("./claims.js").Claim | null} [claim] of a rule
 */

export const LIST = "v2/alert/list";
const MOST = 20; // alerts that are told one by one
const GAP_MS = 2000; // at most so often while values come: an alert is news of minutes
const AGAIN_MS = 60_000; // silence comes without a change
const KNOWN = 1000;
const MUTED = " muted"; // after the key of what was seen
const MOST_MUTED = 500; // runs, the last ones: they are named in each question

/** Poller of the server's alerts, which tells subscribers about new ones. */
export class Alerts {
  #live;
  #key = "";
  #lastSeen = -Infinity;
  #new = 0;
  /** Ids of those that were told of. @type {Set<string> | null} */
  #reported = null;
  /** @type {Set<(came: Alert[]) => void>} */
  #callbacks = new Set();
  #requests = latest(document.documentElement);
  /** Ids of muted runs. @type {Set<string>} */
  #muted = new Set();

  /** @param {import("./live.js").Live} live */
  constructor(live) {
    this.#live = live;
  }

  /**
   * Load what the browser stored for this base directory, then start polling.
   * @param {string} base what is seen of one base directory says nothing of another
   */
  begin(base) {
    this.#key = `mindinsight alerts seen ${base}`;
    this.#readKept();
    const look = throttle(() => this.#look(), GAP_MS);
    const notifies = () => notificationState() === "on";
    this.#live.on(look, notifies);
    const wanted = () => !this.#live.paused() && (!document.hidden || notifies());
    window.setInterval(() => wanted() && look(), AGAIN_MS);
    window.addEventListener("storage", () => {
      this.#readKept();
      look();
    });
    look();
  }

  /** Read the time of the last seen alert and the muted runs from the browser's storage. */
  #readKept() {
    this.#lastSeen = read(this.#key);
    this.#muted = new Set(readMuted(this.#key + MUTED));
  }

  /** Return whether the alerts of a run are muted. @param {string} run */
  muted(run) {
    return this.#muted.has(run);
  }

  /**
   * Mute or unmute the alerts of a run, and store the choice in the browser.
   * @param {string} run
   * @param {boolean} on
   */
  mute(run, on) {
    if (on) this.#muted.add(run);
    else this.#muted.delete(run);
    write(this.#key + MUTED, JSON.stringify([...this.#muted].slice(-MOST_MUTED)));
    this.#look();
  }

  /** Return the number of alerts since the last seen one, but for those whose values a restart replaced. */
  unseen() {
    return this.#new;
  }

  /** Return the time of the newest seen alert in Unix seconds; -Infinity if none was seen. */
  seen() {
    return this.#lastSeen;
  }

  /**
   * Mark all alerts up to a time as seen. Does nothing if a later time is marked already.
   * @param {number} wall Unix seconds
   */
  see(wall) {
    if (!(wall > this.#lastSeen)) return;
    this.#lastSeen = wall;
    write(this.#key, wall);
    this.#look();
  }

  /**
   * Subscribe to alerts that arrive after the page was opened. Each alert is delivered once.
   * @param {(came: Alert[]) => void} callback
   * @returns {() => void} off
   */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Request the list of alerts; an earlier request is dropped. */
  #look() {
    const since = Number.isFinite(this.#lastSeen) ? this.#lastSeen : null;
    this.#requests.ask(
      (signal) => get(LIST, { since, limit: MOST, without: [...this.#muted], archived: false }, { signal }),
      (answer) => this.#take(answer),
      leaveAsIs,
    );
  }

  /**
   * Store an answer and tell subscribers about alerts not delivered before.
   * @param {{alerts: Alert[], total: number}} answer
   */
  #take({ alerts, total }) {
    const ids = this.#reported;
    const fresh = ids ? alerts.filter((alert) => !ids.has(alert.id)) : [];
    this.#reported = new Set([...alerts.map((alert) => alert.id), ...(ids ?? [])].slice(0, KNOWN));
    this.#new = total - alerts.filter(({ replaced }) => replaced).length;
    tell(this.#callbacks, fresh);
  }
}

/** Return a stored number, or -Infinity if it is missing or storage is not available. @param {string} key */
function read(key) {
  try {
    const text = localStorage.getItem(key);
    return text === null ? -Infinity : Number(text);
  } catch {
    return -Infinity; // a browser that keeps nothing for us
  }
}

/**
 * Return the stored ids of muted runs, or [] if they are missing or damaged.
 * @param {string} key
 * @returns {string[]}
 */
function readMuted(key) {
  try {
    const runs = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(runs) ? runs.filter((run) => typeof run === "string") : [];
  } catch {
    return [];
  }
}

/**
 * Store a value. Without storage the value lasts as long as the page.
 * @param {string} key
 * @param {number | string} value
 */
function write(key, value) {
  try {
    localStorage.setItem(key, String(value));
  } catch {
    // It counts for this page, then.
  }
}
