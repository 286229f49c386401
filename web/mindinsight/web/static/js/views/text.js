// Texts page: Markdown of every recorded step of every tag, with search and comparison.

import { searchBox } from "../components/field.js";
import { emptyState } from "../components/nothing.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { nameOf, tagsOfEntries } from "../core/tags.js";
import { TextCard } from "./text/card.js";

const CODE = 'record.add_value("text", "sample", "# Output\\n\\n*written* by the model")';

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Texts(root, app);
  await view.follow([]);
  return {
    update(change) {
      const changed = grownRuns(app, change, "text");
      if (changed.length) view.follow(changed, leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Cards of all tags. */
class Texts {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.filter = "";
    this.query = "";
    /** @type {TextCard[]} */
    this.cards = [];
    /** @type {import("../core/tags.js").Tag[] | null} those of the selected runs */
    this.tags = null;
    this.requests = latest(root);
    this.head = h("div", null);
    this.body = h("div", null);
    replace(root, this.head, this.body);
    this.reread();
    this.offs = [app.selection.on(() => this.follow([], leaveAsIs)), app.url.on(() => this.reread())];
  }

  /** Show what the address names after it changed. */
  reread() {
    this.filter = this.app.url.get("q", "");
    this.query = this.app.url.get("find", "");
    this.drawHead();
    if (this.tags) this.build();
  }

  /** Draw the toolbar. */
  drawHead() {
    const { t, url } = this.app;
    const filter = searchBox({
      label: t("text.filter"),
      value: this.filter,
      onchange: (text) => {
        this.filter = text;
        url.set({ q: text || null });
        this.build();
      },
    });
    const find = searchBox({
      label: t("text.find"),
      value: this.query,
      delay: 300,
      onchange: (text) => {
        this.query = text;
        url.set({ find: text || null });
        this.cards.forEach((card) => card.search());
      },
    });
    replace(this.head, h("div", { class: "toolbar" }, filter, find));
  }

  /** Remove the filter. */
  clear() {
    this.app.url.set({ q: null });
    this.reread();
  }

  /** Create the cards. */
  build() {
    const { app, filter } = this;
    this.cards.forEach((card) => card.end());
    const query = filter.toLowerCase();
    const passing = (this.tags ?? []).filter(({ tag }) => tag.toLowerCase().includes(query));
    this.cards = passing.flatMap(({ tag, runs }) =>
      runs
        .filter((run) => app.selection.has(run))
        .map((run) => new TextCard(app, { tag, run }, () => this.query)),
    );
    const elements = this.cards.map((card) => card.element);
    replace(
      this.body,
      elements.length
        ? h("div", { class: "cards text-cards" }, elements)
        : emptyState(app, { kind: "text", filter, clear: () => this.clear(), code: CODE }),
    );
    this.cards.forEach((card) => card.load());
  }

  /**
   * Refresh after new steps or tags, or when other runs were chosen.
   * @param {string[]} changed runs
   * @param {(error: Failure) => unknown} [failed]
   */
  follow(changed, failed) {
    return this.requests.ask(
      (signal) => tagsOfEntries(this.app, "text", signal),
      (tags) => {
        const unchanged = this.tags !== null && nameOf(tags) === nameOf(this.tags);
        this.tags = tags;
        if (!unchanged) this.build();
        else this.cards.filter((card) => changed.includes(card.run)).forEach((card) => card.load());
      },
      failed,
    );
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.offs.forEach((off) => off());
    this.cards.forEach((card) => card.end());
  }
}
