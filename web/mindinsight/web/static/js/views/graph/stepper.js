// Steps through search results: next, previous and position.

import { iconButton } from "../../components/button.js";
import { h } from "../../core/dom.js";

/**
 * What a step leads to: a node by its index in the tree, or a parameter or constant by its number.
 * @typedef {{id: number} | {outer: number}} Hit
 */

/** Buttons that go from one search result or difference to the next or previous. */
export class Stepper {
  /** @type {Hit[]} */
  #hits = [];
  #at = -1;

  /** @param {import("../../core/types.js").Translate} t @param {(hit: Hit) => void} goTo */
  constructor(t, goTo) {
    this.t = t;
    this.goTo = goTo;
    this.text = h("span", { class: "small", role: "status" });
    this.element = h(
      "div",
      { class: "row graph-stepper", hidden: true },
      iconButton("left", t("graph.search.previous"), () => this.step(-1)),
      iconButton("right", t("graph.search.next"), () => this.step(1)),
      this.text,
    );
  }

  /**
   * Set the results. `total` may be larger than their number.
   * @param {Hit[]} hits
   * @param {number} total found, of which not all may be here
   */
  show(hits, total) {
    this.#hits = hits;
    this.#at = -1;
    this.total = total;
    this.element.hidden = !hits.length;
    this.#tell();
  }

  /** Go to the next or previous result. The first follows the last. @param {1 | -1} by */
  step(by) {
    const n = this.#hits.length;
    if (!n) return;
    this.#at = this.#at < 0 && by < 0 ? n - 1 : (this.#at + by + n) % n;
    this.#tell();
    this.goTo(this.#hits[this.#at]);
  }

  /** Show the position. */
  #tell() {
    const n = this.total;
    this.text.textContent = this.#at < 0 ? "" : this.t("graph.search.at", { i: this.#at + 1, n });
  }
}
