// Audio page: every recorded step of every tag. With linked steps all cards show the same one.

import { check, searchBox } from "../components/field.js";
import { emptyState } from "../components/nothing.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { nameOf, tagsOfEntries } from "../core/tags.js";
import { AudioCard } from "./audio/card.js";

const CODE = 'record.add_value("audio", "voice", (samples, 16000))';

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Sounds(root, app);
  await view.follow([]);
  return {
    update(change) {
      const changed = grownRuns(app, change, "audio");
      if (changed.length) view.follow(changed, leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** List of audio cards with shared options. */
class Sounds {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.filter = "";
    this.linked = false;
    /** @type {number | null} the step of all cards */
    this.step = null;
    /** @type {AudioCard[]} */
    this.cards = [];
    /** @type {import("../core/tags.js").Tag[] | null} those of the selected runs */
    this.tags = null;
    this.requests = latest(root);
    this.head = h("div", null);
    this.body = h("div", null);
    replace(root, this.head, this.body);
    this.reread();
    this.unsubscribers = [
      app.selection.on(() => this.follow([], leaveAsIs)),
      app.theme.on(() => this.cards.forEach((card) => card.paint())),
      app.url.on(() => this.reread()),
    ];
  }

  /** Show what the address names after it changed. */
  reread() {
    const { url } = this.app;
    const at = url.get("at");
    this.filter = url.get("q", "");
    this.linked = url.get("link") === "1";
    this.step = at === null ? null : Number(at);
    this.drawHead();
    if (this.tags) this.build();
  }

  /** Draw the toolbar. */
  drawHead() {
    const { t, url } = this.app;
    const filter = searchBox({
      label: t("audio.filter"),
      value: this.filter,
      onchange: (text) => {
        this.filter = text;
        url.set({ q: text || null });
        this.build();
      },
    });
    const linked = check({
      label: t("audio.linked"),
      checked: this.linked,
      onchange: (on) => {
        this.linked = on;
        url.set({ link: on ? "1" : null, at: on ? this.step : null });
      },
    });
    replace(this.head, h("div", { class: "toolbar" }, filter, linked));
  }

  /** Return the step that all cards show; null for each card's newest. */
  wantedStep() {
    return this.linked ? this.step : null;
  }

  /** Show a step on all cards if they are linked. @param {number} step */
  onstep(step) {
    this.step = step;
    if (!this.linked) return;
    this.app.url.set({ at: step });
    this.cards.forEach((card) => card.show(step));
  }

  /** Remove the filter. */
  clear() {
    this.app.url.set({ q: null });
    this.reread();
  }

  /** Create the cards. */
  build() {
    const { app } = this;
    this.cards.forEach((card) => card.end());
    const wanted = this.filter.toLowerCase();
    const shown = (this.tags ?? []).filter(({ tag }) => tag.toLowerCase().includes(wanted));
    this.cards = shown.flatMap(({ tag, runs }) =>
      runs.filter((run) => app.selection.has(run)).map((run) => new AudioCard(app, { tag, run }, this)),
    );
    const elements = this.cards.map((card) => card.element);
    replace(
      this.body,
      elements.length
        ? h("div", { class: "cards" }, elements)
        : emptyState(app, { kind: "audio", filter: this.filter, clear: () => this.clear(), code: CODE }),
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
      (signal) => tagsOfEntries(this.app, "audio", signal),
      (tags) => {
        const same = this.tags !== null && nameOf(tags) === nameOf(this.tags);
        this.tags = tags;
        if (!same) this.build();
        else this.cards.filter((card) => changed.includes(card.run)).forEach((card) => card.load());
      },
      failed,
    );
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.unsubscribers.forEach((unsubscribe) => unsubscribe());
    this.cards.forEach((card) => card.end());
  }
}
