// PR curves page: curves of all selected runs at one step, and the area under them by step.

import { searchBox, slider } from "../components/field.js";
import { emptyState } from "../components/nothing.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { nameOf, tagsOfEntries } from "../core/tags.js";
import { prCurveCard } from "./pr_curve/card.js";

const CODE = 'record.add_value("pr_curve", "cats", (labels, predictions))';

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new PrCurves(root, app);
  await view.follow([]);
  return {
    update(change) {
      const changed = grownRuns(app, change, "pr_curve");
      if (changed.length) view.follow(changed, leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Cards of all tags with a shared step. */
class PrCurves {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.filter = "";
    /** @type {number | null} the step that a person chose; the newest is followed otherwise */
    this.step = null;
    /** Steps of the cards that were read. @type {Set<number>} */
    this.steps = new Set();
    /** @type {import("./pr_curve/card.js").Card[]} */
    this.cards = [];
    /** @type {import("../core/tags.js").Tag[] | null} those of the selected runs */
    this.tags = null;
    this.requests = latest(root);
    this.move = slider({
      label: app.t("pr_curve.step"),
      values: [0],
      value: 0,
      delay: 60,
      onchange: (step) => this.pick(step),
    });
    this.filterBox = h("div", null);
    this.body = h("div", null);
    replace(root, h("div", { class: "toolbar" }, this.filterBox, this.move), this.body);
    this.reread();
    this.unsubscribers = [
      app.selection.on(() => this.follow([], leaveAsIs)),
      app.theme.on(() => this.cards.forEach((card) => card.paint())),
      app.url.on(() => this.reread()),
    ];
  }

  /** Show what the address names after it changed. */
  reread() {
    const { t, url } = this.app;
    const at = url.get("at");
    this.step = at === null ? null : Number(at);
    this.filter = url.get("q", "");
    const filter = searchBox({
      label: t("pr_curve.filter"),
      value: this.filter,
      onchange: (text) => {
        this.filter = text;
        url.set({ q: text || null });
        this.build();
      },
    });
    replace(this.filterBox, filter);
    if (this.tags) this.build();
  }

  /** Show a step. The newest step is followed from then on. @param {number} step */
  pick(step) {
    this.step = step === Math.max(...this.steps) ? null : step;
    this.app.url.set({ at: this.step });
    this.cards.forEach((card) => card.readCurves());
  }

  /** Return the step to draw. Each run shows its curve nearest to it. */
  shownStep() {
    return this.step ?? Math.max(...this.steps, 0);
  }

  /** Add the steps that a card has read. @param {ArrayLike<number>} steps */
  takeSteps(steps) {
    const before = this.steps.size;
    Array.from(steps).forEach((step) => this.steps.add(step));
    if (this.steps.size === before) return;
    this.move.setValues([...this.steps].sort((a, b) => a - b));
    this.move.set(this.shownStep());
    if (this.step === null) this.cards.forEach((card) => card.readCurves());
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
    this.steps.clear();
    const wanted = this.filter.toLowerCase();
    const shown = (this.tags ?? []).filter(({ tag }) => tag.toLowerCase().includes(wanted));
    this.cards = shown.map((tag) => prCurveCard(app, tag, this));
    const elements = this.cards.map((card) => card.element);
    this.move.hidden = !elements.length;
    replace(
      this.body,
      elements.length
        ? h("div", { class: "cards" }, elements)
        : emptyState(app, { kind: "pr_curve", filter: this.filter, clear: () => this.clear(), code: CODE }),
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
      (signal) => tagsOfEntries(this.app, "pr_curve", signal),
      (tags) => {
        const same = this.tags !== null && nameOf(tags) === nameOf(this.tags);
        this.tags = tags;
        if (!same) this.build();
        else this.refresh(changed);
      },
      failed,
    );
  }

  /** Refresh the cards of changed runs. @param {string[]} changed runs */
  refresh(changed) {
    this.cards.filter(({ runs }) => runs.some((run) => changed.includes(run))).forEach((card) => card.load());
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.unsubscribers.forEach((unsubscribe) => unsubscribe());
    this.cards.forEach((card) => card.end());
  }
}
