// Histograms page: distribution of a tag's values over the steps of each run, or of all runs at one step.

import { shortenTitles } from "../components/card.js";
import { emptyState } from "../components/nothing.js";
import { grownRuns } from "../core/changes.js";
import { h, renew, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { nameOf, tagsOfEntries } from "../core/tags.js";
import { cardsOf } from "./histogram/cards.js";
import { readOptions, writeOptions } from "./histogram/options.js";
import { toolbar } from "./histogram/toolbar.js";

const CODE = 'record.add_value("histogram", "fc.weight", weight)';

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./histogram/options.js").Options} Options */

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Histograms(root, app);
  await view.follow([]);
  return {
    update(change) {
      const runs = grownRuns(app, change, "histogram");
      if (runs.length) view.follow(runs, leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Cards of all tags. */
class Histograms {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.options = readOptions(app.url);
    /** @type {import("./histogram/cards.js").Card[]} */
    this.cards = [];
    /** Those of the selected runs. @type {import("../core/tags.js").Tag[] | null} */
    this.tags = null;
    /** Runs with new points since the tags were read. @type {Set<string>} */
    this.grown = new Set();
    this.head = h("div", null);
    this.body = h("div", null);
    replace(root, this.head, this.body);
    this.requests = latest(root);
    this.subscriptions = [
      app.selection.on(() => this.follow([], leaveAsIs)),
      app.theme.on(() => this.cards.forEach((card) => card.paint())),
      app.url.on(() => this.reread()),
    ];
  }

  /** Show what the address names after it changed. */
  reread() {
    this.options = readOptions(this.app.url);
    replace(this.head);
    if (this.tags) this.build();
  }

  /** Change the options and redraw. @param {Partial<Options>} changes */
  change(changes) {
    this.options = { ...this.options, ...changes };
    writeOptions(this.app.url, this.options);
    if ("axis" in changes || "scale" in changes) {
      this.cards.forEach((card) => card.paint());
      this.drawHead(); // it may have been changed in a card that fills the window
    } else if ("step" in changes) this.cards.forEach((card) => card.load());
    else this.build();
  }

  /** Draw the toolbar. */
  drawHead() {
    renew(
      this.head,
      toolbar(this.app, this.options, (changes) => this.change(changes)),
    );
  }

  /** Create the cards of the tags that pass the filter. */
  build() {
    const { app, options } = this;
    const filter = options.filter.toLowerCase();
    const tags = (this.tags ?? []).filter(({ tag }) => tag.toLowerCase().includes(filter));
    this.cards.forEach((card) => card.end());
    this.drawHead();
    const change = (/** @type {Partial<Options>} */ changes) => this.change(changes);
    this.cards = cardsOf(app, tags, () => this.options, change);
    const elements = this.cards.map((card) => card.element);
    shortenTitles(elements);
    replace(
      this.body,
      elements.length
        ? h("div", { class: "cards" }, elements)
        : emptyState(app, {
            kind: "histogram",
            filter: options.filter,
            clear: () => this.change({ filter: "" }),
            code: CODE,
          }),
    );
    this.cards.forEach((card) => card.load());
  }

  /**
   * Refresh after new points or tags, or when other runs were chosen.
   * @param {string[]} runs with new points
   * @param {(error: Failure) => unknown} [failed]
   */
  follow(runs, failed) {
    runs.forEach((run) => this.grown.add(run));
    return this.requests.ask(
      (signal) => tagsOfEntries(this.app, "histogram", signal),
      (tags) => this.takeTags(tags),
      failed,
    );
  }

  /**
   * Build the cards if the tags differ; otherwise refresh those of grown runs.
   * @param {import("../core/tags.js").Tag[]} tags
   */
  takeTags(tags) {
    const unchanged = this.tags !== null && nameOf(tags) === nameOf(this.tags);
    this.tags = tags;
    if (!unchanged) this.build();
    else {
      const grown = this.cards.filter((card) => card.runs.some((run) => this.grown.has(run)));
      grown.forEach((card) => card.load());
    }
    this.grown.clear();
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.subscriptions.forEach((unsubscribe) => unsubscribe());
    this.cards.forEach((card) => card.end());
  }
}
