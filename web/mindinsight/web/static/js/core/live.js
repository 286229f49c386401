// What is new on the server, pushed. Where a proxy swallows the stream, we ask every few seconds instead.

import { get } from "./api.js";

/** @typedef {import("./types.js").Change} Change */
/** @typedef {"connecting" | "live" | "polling" | "lost"} State */

const POLL_MS = 5000;

export class Live {
  /** @type {Set<(change: Change) => void>} */
  #callbacks = new Set();
  /** @type {Set<(state: State) => void>} */
  #watchers = new Set();
  /** @type {State} */
  #state = "connecting";
  #version = 0;
  #timer = 0;

  start() {
    const source = new EventSource("v2/events");
    source.addEventListener("hello", (event) => this.#hello(JSON.parse(event.data).version));
    source.addEventListener("change", (event) => this.#tell(JSON.parse(event.data)));
    source.onerror = () => {
      this.#startPolling();
      if (source.readyState === EventSource.CLOSED) window.setTimeout(() => this.start(), POLL_MS);
    };
  }

  state() {
    return this.#state;
  }

  /**
   * @param {(change: Change) => void} callback; `list` true and no runs means: look at everything
   * @returns {() => void} off
   */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** @param {(state: State) => void} watcher */
  onState(watcher) {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** The stream is there (again). @param {number} version of what the server has */
  #hello(version) {
    this.#become("live");
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#version && version !== this.#version) this.#tell({ version, runs: {}, list: true });
    this.#version = version;
  }

  /** @param {State} next */
  #become(next) {
    if (next === this.#state) return;
    this.#state = next;
    this.#watchers.forEach((watcher) => watcher(next));
  }

  /** @param {Change} change */
  #tell(change) {
    this.#version = change.version;
    this.#callbacks.forEach((callback) => callback(change));
  }

  #startPolling() {
    if (!this.#timer) this.#timer = window.setTimeout(() => this.#poll(), 1000);
  }

  async #poll() {
    try {
      const list = await get("v2/runs");
      this.#become("polling");
      if (list.version !== this.#version) this.#tell({ version: list.version, runs: {}, list: true });
    } catch {
      this.#become("lost");
    }
    if (this.#timer) this.#timer = window.setTimeout(() => this.#poll(), POLL_MS);
  }
}
