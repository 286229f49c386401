// What is new on the server, pushed. Where a proxy swallows the stream, we ask every few seconds instead.
//
// Nothing may fall between the first list of runs and the stream, or between two streams: whenever the server
// tells a version that the page has not followed up to, everything is looked at again. Several servers may
// stand behind one address: what one tells, another may read a moment later, so a change is given once more.

import { get } from "./api.js";
import { together } from "./changes.js";
import { tell } from "./dom.js";

/** @typedef {import("./types.js").Change} Change */
/** @typedef {"connecting" | "live" | "polling" | "lost"} State */

const POLL_MS = 5000;
const REPEAT_MS = 3000; // in which every server has read what one of them told
const FAR = 2 ** 22; // versions: no server publishes so many between a change and the list that follows

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

  start() {
    globalThis.document?.addEventListener("visibilitychange", () => this.#catchUp());
    this.#listen();
  }

  #listen() {
    const source = new EventSource("v2/events");
    source.addEventListener("hello", (event) => this.#hello(JSON.parse(event.data).version));
    source.addEventListener("change", (event) => this.#tell(JSON.parse(event.data)));
    source.onerror = () => {
      this.#broken = true;
      this.#startPolling();
      if (source.readyState === EventSource.CLOSED) window.setTimeout(() => this.#listen(), POLL_MS);
    };
  }

  state() {
    return this.#state;
  }

  paused() {
    return this.#paused;
  }

  /** Tell changes at most every so many seconds, those that come meanwhile as one. @param {number} seconds */
  every(seconds) {
    this.#gap = 1000 * seconds;
  }

  /** How many changes came since it was paused. */
  waiting() {
    return this.#waiting;
  }

  /** What comes from now on is kept until somebody wants to go on. */
  pause() {
    this.#paused = true;
    this.#show();
  }

  /** Tell all that has come meanwhile, as one change. */
  resume() {
    this.#paused = false;
    const lock = this.#queued;
    this.#release();
    if (lock) this.#give(lock);
  }

  /** Look at everything now, paused or not. */
  lookNow() {
    this.#release();
    this.#give({ version: this.#version ?? this.#heard, runs: {}, list: true, everything: true });
  }

  /**
   * Call back on changes. In the background, where nobody looks, a page asks nothing: what comes meanwhile is
   * given as one change when it is looked at again.
   * @param {(change: Change) => void} callback
   * @param {() => boolean} [background] whether it is called in the background, too
   * @returns {() => void} off
   */
  on(callback, background = () => false) {
    this.#callbacks.set(callback, background);
    return () => this.#callbacks.delete(callback);
  }

  /** @param {(state: State) => void} watcher */
  onState(watcher) {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * The page begins with what the server had at `version`; 0 when it could not be asked.
   * @param {number} version
   */
  begin(version) {
    this.#version = version;
    this.compare(version);
    if (this.#heard > version || (this.#heard && this.#several)) this.#lookAgain(this.#heard);
  }

  /**
   * Note the version of a list: one that does not follow the stream's comes from another server.
   * @param {number} version
   */
  compare(version) {
    const ahead = version - this.#streamed;
    if (this.#streamed && version && (ahead < 0 || ahead > FAR)) this.#several = true;
  }

  /** The stream is there (again). @param {number} version of what the server has */
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

  /** @param {State} next */
  #become(next) {
    if (next === this.#state) return;
    this.#state = next;
    this.#show();
  }

  #show() {
    tell(this.#watchers, this.#state);
  }

  #release() {
    [this.#queued, this.#collected, this.#waiting] = [null, null, 0];
    this.#show();
  }

  /** @param {Change} change */
  #tell(change) {
    this.#streamed = Math.max(this.#streamed, change.version);
    if (this.#version === null) this.#heard = change.version;
    else this.#version = change.version;
    if (this.#paused) this.#hold(change);
    else this.#giveInTime(change);
  }

  /** @param {Change} change */
  #giveInTime(change) {
    const wait = this.#given + this.#gap - Date.now();
    if (!this.#collected && wait <= 0) this.#give(change);
    else {
      if (!this.#collected) window.setTimeout(() => this.#giveCollected(), wait);
      this.#collected = together(this.#collected, change);
    }
  }

  #giveCollected() {
    const change = this.#collected;
    this.#collected = null;
    if (!change) return;
    if (this.#paused) this.#hold(change);
    else this.#give(change);
  }

  /** @param {Change} change */
  #hold(change) {
    this.#queued = together(this.#queued, change);
    this.#waiting++;
    this.#show();
  }

  /** @param {Change} change */
  #give(change) {
    this.#given = Date.now();
    this.#spread(change);
    if (!this.#several) return;
    if (!this.#repeated) window.setTimeout(() => this.#repeat(), REPEAT_MS);
    this.#repeated = together(this.#repeated, change);
  }

  #repeat() {
    const change = this.#repeated;
    this.#repeated = null;
    if (change && !this.#paused) this.#spread(change);
  }

  /** @param {Change} change */
  #spread(change) {
    const hidden = globalThis.document?.hidden;
    if (hidden) this.#unseen = together(this.#unseen, change);
    const calls = [...this.#callbacks].map(([callback, background]) => (/** @type {Change} */ told) => {
      if (this.#callbacks.has(callback) && (!hidden || background())) callback(told);
    });
    tell(calls, change);
  }

  /** The page may be looked at again. */
  #catchUp() {
    const change = this.#unseen;
    if (!change || document.hidden) return;
    this.#unseen = null;
    this.#spread(change);
  }

  /** @param {number} version */
  #lookAgain(version) {
    this.#tell({ version, runs: {}, list: true, everything: true });
  }

  #startPolling() {
    if (!this.#timer) this.#timer = window.setTimeout(() => this.#poll(), 1000);
  }

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
