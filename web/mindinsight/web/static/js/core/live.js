// Change events pushed by the server, with polling as the fallback where a proxy blocks the stream.
//
// No change may be lost between the first list of runs and the stream, or between two streams: if the
// server's version differs from the page's, everything is refreshed. Behind one address there may be several
// servers that see a change at slightly different times, so a change is then delivered twice.

import { get } from "./api.js";
import { together } from "./changes.js";
import { COPY } from "./copy.js";
import { tell } from "./dom.js";
import { followStream } from "./stream.js";

/** @typedef {import("./types.js").Change} Change */
/** @typedef {"connecting" | "live" | "polling" | "lost" | "copy"} State */

const POLL_MS = 5000;
const REPEAT_MS = 3000; // in which every server has read what one of them told
const FAR = 2 ** 22; // versions: no server publishes so many between a change and the list that follows

/** Subscription to the server's changes, with pause, resume and a minimum interval. */
export class Live {
  /** What is told of changes, and whether also while the page is in the background. */
  #callbacks = /** @type {Map<(change: Change) => void, () => boolean>} */ (new Map());
  /** What came while the page was in the background. @type {Change | null} */
  #unseen = null;
  /** @type {Set<(state: State) => void>} */
  #watchers = new Set();
  /** @type {State} */
  #state = "connecting";
  /** Up to where the page has followed; null until it has its first list of runs. @type {number | null} */
  #version = null;
  /** The newest version the stream told before that list came. */
  #heard = 0;
  /** Whether the stream has been away: questions of that time may have failed. */
  #broken = false;
  #timer = 0;
  #paused = false;
  /** The newest version that the stream told. */
  #streamed = 0;
  /** Whether lists come from other servers than the stream. */
  #several = false;
  /** What is given once more. @type {Change | null} */
  #repeated = null;
  /** What came while nobody wanted to be told. @type {Change | null} */
  #queued = null;
  #waiting = 0;
  /** ms between two changes that are given; 0 for at once. */
  #gap = 0;
  /** When the last one was given. */
  #given = -Infinity;
  /** What came in the gap since then. @type {Change | null} */
  #collected = null;

  /** Follow the event stream; poll while it is broken. In a copy nothing changes. */
  start() {
    if (COPY) return this.#become("copy");
    globalThis.document?.addEventListener("visibilitychange", () => this.#catchUp());
    followStream("v2/events", ({ hello, change, lost }) => {
      if (hello !== undefined) this.#hello(hello);
      if (change) this.#tell(change);
      if (!lost) return;
      this.#broken = true;
      this.#startPolling();
    });
    return undefined;
  }

  /** Return the state of the connection. */
  state() {
    return this.#state;
  }

  /** Return whether updates are paused. */
  paused() {
    return this.#paused;
  }

  /**
   * Set the minimum interval between two deliveries. Changes in between are merged.
   * @param {number} seconds
   */
  every(seconds) {
    this.#gap = 1000 * seconds;
    this.#show();
  }

  /** Return the minimum interval between two deliveries in seconds. */
  interval() {
    return this.#gap / 1000;
  }

  /** Return the number of changes held back since the pause. */
  waiting() {
    return this.#waiting;
  }

  /** Hold back changes until `resume`. */
  pause() {
    this.#paused = true;
    this.#show();
  }

  /** Deliver everything held back as one change. */
  resume() {
    this.#paused = false;
    const lock = this.#queued;
    this.#release();
    if (lock) this.#give(lock);
  }

  /** Deliver a change that refreshes everything, even while paused. */
  lookNow() {
    this.#release();
    this.#give({ version: this.#version ?? this.#heard, runs: {}, list: true, everything: true });
  }

  /**
   * Subscribe to changes. While the page is hidden they are held back and delivered as one change when it is
   * shown again.
   * @param {(change: Change) => void} callback
   * @param {() => boolean} [background] whether it is called in the background, too
   * @returns {() => void} off
   */
  on(callback, background = () => false) {
    this.#callbacks.set(callback, background);
    return () => this.#callbacks.delete(callback);
  }

  /**
   * Subscribe to the state of the connection. Return a function that unsubscribes.
   * @param {(state: State) => void} watcher
   */
  onState(watcher) {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * Set the version of the page's first list of runs, and refresh if the stream is ahead of it.
   * @param {number} version
   */
  begin(version) {
    this.#version = version;
    this.compare(version);
    if (this.#heard > version || (this.#heard && this.#several)) this.#lookAgain(this.#heard);
  }

  /**
   * Compare a list's version with the stream's. A mismatch means that several servers answer.
   * @param {number} version
   */
  compare(version) {
    const ahead = version - this.#streamed;
    if (this.#streamed && version && (ahead < 0 || ahead > FAR)) this.#several = true;
  }

  /**
   * Handle the stream's greeting. Refresh everything if changes may have been missed.
   * @param {number} version of what the server has
   */
  #hello(version) {
    this.#become("live");
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#streamed = version;
    const follows = version === this.#version && !this.#broken;
    this.#broken = false;
    if (this.#version === null) this.#heard = version;
    else if (!follows) this.#lookAgain(version);
  }

  /** Change the state of the connection. @param {State} next */
  #become(next) {
    if (next === this.#state) return;
    this.#state = next;
    this.#show();
  }

  /** Tell subscribers the state of the connection. */
  #show() {
    tell(this.#watchers, this.#state);
  }

  /** Drop everything that is held back. */
  #release() {
    [this.#queued, this.#collected, this.#waiting] = [null, null, 0];
    this.#show();
  }

  /** Handle a change from the stream or from polling. @param {Change} change */
  #tell(change) {
    this.#streamed = Math.max(this.#streamed, change.version);
    if (this.#version === null) this.#heard = change.version;
    else this.#version = change.version;
    if (this.#paused) this.#hold(change);
    else this.#giveInTime(change);
  }

  /** Deliver a change now, or with later ones once the minimum interval has passed. @param {Change} change */
  #giveInTime(change) {
    const wait = this.#given + this.#gap - Date.now();
    if (!this.#collected && wait <= 0) this.#give(change);
    else {
      if (!this.#collected) window.setTimeout(() => this.#giveCollected(), wait);
      this.#collected = together(this.#collected, change);
    }
  }

  /** Deliver what was collected during the minimum interval. */
  #giveCollected() {
    const change = this.#collected;
    this.#collected = null;
    if (!change) return;
    if (this.#paused) this.#hold(change);
    else this.#give(change);
  }

  /** Hold back a change while paused. @param {Change} change */
  #hold(change) {
    this.#queued = together(this.#queued, change);
    this.#waiting++;
    this.#show();
  }

  /** Deliver a change, and once more later if several servers answer. @param {Change} change */
  #give(change) {
    this.#given = Date.now();
    this.#spread(change);
    if (!this.#several) return;
    if (!this.#repeated) window.setTimeout(() => this.#repeat(), REPEAT_MS);
    this.#repeated = together(this.#repeated, change);
  }

  /** Deliver changes a second time. */
  #repeat() {
    const change = this.#repeated;
    this.#repeated = null;
    if (change && !this.#paused) this.#spread(change);
  }

  /** Call subscribers. While the page is hidden, only those that ask for it. @param {Change} change */
  #spread(change) {
    const hidden = globalThis.document?.hidden;
    if (hidden) this.#unseen = together(this.#unseen, change);
    const calls = [...this.#callbacks].map(([callback, background]) => (/** @type {Change} */ told) => {
      if (this.#callbacks.has(callback) && (!hidden || background())) callback(told);
    });
    tell(calls, change);
  }

  /** Deliver what was held back while the page was hidden. */
  #catchUp() {
    const change = this.#unseen;
    if (!change || document.hidden) return;
    this.#unseen = null;
    this.#spread(change);
  }

  /** Handle a change that refreshes everything. @param {number} version */
  #lookAgain(version) {
    this.#tell({ version, runs: {}, list: true, everything: true });
  }

  /** Start to poll, unless polling already. */
  #startPolling() {
    if (!this.#timer) this.#timer = window.setTimeout(() => this.#poll(), 1000);
  }

  /** Ask for the list of runs and schedule the next poll. */
  async #poll() {
    try {
      const list = await get("v2/runs");
      this.#become("polling");
      if (list.version !== this.#version) this.#lookAgain(list.version);
    } catch {
      this.#become("lost");
    }
    if (this.#timer) this.#timer = window.setTimeout(() => this.#poll(), POLL_MS);
  }
}
