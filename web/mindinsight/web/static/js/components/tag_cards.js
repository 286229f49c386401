// Page of cards for the tags of one kind: which tags pass the filter, and which cards have grown.

import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { onceATask } from "../core/lazy_work.js";
import { nameOf, tagsOfEntries } from "../core/tags.js";
import { searchBox } from "./field.js";
import { emptyState } from "./nothing.js";
import { TagArrangement } from "./tag_arrangement.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/tags.js").Tag} Tag */

/**
 * Card of one tag, in one run or in several.
 * @typedef {{element: HTMLElement, load: () => unknown, end: () => void, run?: string, runs?: string[]}} Card
 */

/**
 * Base of pages with cards for the tags of one kind. A page draws its toolbar in `drawHead` and creates its
 * cards in `makeCards`; its constructor ends with `reread`.
 * @template {Card} C
 */
export class TagCards {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   * @param {string} kind "histogram"
   * @param {string} code how such data is recorded
   * @param {boolean} [resizable] whether its cards have sizes
   */
  constructor(root, app, kind, code, resizable = true) {
    this.app = app;
    this.kind = kind;
    this.code = code;
    this.filter = "";
    /** @type {C[]} */
    this.cards = [];
    /** Those of the selected runs. @type {Tag[] | null} */
    this.tags = null;
    /** Runs with new steps since the tags were read. @type {Set<string>} */
    this.grown = new Set();
    this.requests = latest(root);
    this.head = h("div", null);
    this.body = h("div", null);
    this.arrangement = new TagArrangement(app, {
      rebuild: () => this.build(),
      columns: onceATask(() => this.columns()),
      resizable,
    });
    replace(root, this.head, this.arrangement.element, this.body);
    this.offs = [
      app.selection.on(() => this.follow([], leaveAsIs)),
      app.theme.on(() => this.paint()),
      app.url.on(() => this.reread()),
    ];
  }

  /**
   * Show the cards.
   * @returns {Promise<import("../core/types.js").View>}
   */
  async open() {
    await this.follow([]);
    return {
      update: (change) => {
        const changed = grownRuns(this.app, change, this.kind);
        if (changed.length) this.follow(changed, leaveAsIs);
      },
      unmount: () => this.end(),
    };
  }

  /** Show what the address names after it changed. */
  reread() {
    this.filter = this.app.url.get("q", "");
    this.arrangement.reread();
    this.drawHead();
    if (this.tags) this.build();
  }

  /** Draw the toolbar. */
  drawHead() {}

  /** Redraw the cards in the colours of the theme. */
  paint() {}

  /** Create the filter of tags for the toolbar. */
  filterBox() {
    return searchBox({
      label: this.app.t("common.filter_tags"),
      value: this.filter,
      onchange: (text) => {
        this.filter = text;
        this.app.url.set({ q: text || null });
        this.build();
      },
    });
  }

  /** Remove the filter. */
  clear() {
    this.app.url.set({ q: null });
    this.reread();
  }

  /**
   * Create the cards of tags.
   * @param {Tag[]} _tags
   * @returns {C[]}
   */
  makeCards(_tags) {
    return [];
  }

  /**
   * Return each tag with each selected run that has it.
   * @param {Tag[]} tags
   */
  series(tags) {
    const { selection } = this.app;
    return tags.flatMap(({ tag, runs }) =>
      runs.filter((run) => selection.has(run)).map((run) => ({ tag, run })),
    );
  }

  /** Create the element around the cards. @returns {HTMLElement} */
  arrange() {
    return h(
      "div",
      { class: "cards" },
      this.cards.map((card) => card.element),
    );
  }

  /** Return the number of columns of the cards, 1 where a column is a run's. */
  columns() {
    const grid = this.body.querySelector(".cards:not(.by-run)");
    return grid ? getComputedStyle(grid).gridTemplateColumns.split(" ").length : 1;
  }

  /** Create the cards of the tags that pass the filter. */
  build() {
    const { app, kind, code, filter } = this;
    this.cards.forEach((card) => card.end());
    const wanted = filter.toLowerCase();
    const passing = (this.tags ?? []).filter(({ tag }) => tag.toLowerCase().includes(wanted));
    this.cards = this.makeCards(this.arrangement.arranged(passing));
    const nothing = () =>
      passing.length
        ? h("p", { class: "muted" }, app.t("scalar.arrange.all_hidden"))
        : emptyState(app, { kind, filter, clear: () => this.clear(), code });
    replace(this.body, this.cards.length ? this.arrange() : nothing());
    this.cards.forEach((card) => this.arrangement.equip(card.element));
    this.cards.forEach((card) => card.load());
  }

  /**
   * Refresh after new steps or tags, or when other runs were chosen.
   * @param {string[]} changed runs
   * @param {(error: Failure) => unknown} [failed]
   */
  follow(changed, failed) {
    changed.forEach((run) => this.grown.add(run));
    return this.requests.ask(
      (signal) => tagsOfEntries(this.app, this.kind, signal),
      (tags) => this.take(tags),
      failed,
    );
  }

  /** Build the cards if the tags differ; otherwise refresh those of grown runs. @param {Tag[]} tags */
  take(tags) {
    const unchanged = this.tags !== null && nameOf(tags) === nameOf(this.tags);
    this.tags = tags;
    const hasGrown = (/** @type {Card} */ { run = "", runs = [run] }) =>
      runs.some((id) => this.grown.has(id));
    if (!unchanged) this.build();
    else this.cards.filter(hasGrown).forEach((card) => card.load());
    this.grown.clear();
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.offs.forEach((off) => off());
    this.cards.forEach((card) => card.end());
  }
}
