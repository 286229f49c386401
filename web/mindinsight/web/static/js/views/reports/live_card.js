// Live card: its page, mounted with an address of its own, of which only the card is visible.

import { FixedUrl } from "../../core/fixed_url.js";
import { onAsking } from "../../core/api.js";
import { h, replace } from "../../core/dom.js";
import { whenNear } from "../../core/lazy_work.js";
import { exactPattern } from "../../core/patterns.js";
import { cardsNamed, legendOf } from "../../core/pins.js";
import { importView } from "../../core/views.js";
import { legend } from "./legend.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./block.js").Block} Block */

const QUIET_MS = 400; // without a request, after which the card will not come: answers are drawn at once
const LONGEST_MS = 30_000; // for a page that never stops asking

/** Pages whose filter is a pattern; that of the others is a part of the name. */
const PATTERNS = ["scalar", "histogram"];
const FILTERED = [...PATTERNS, "image", "audio", "text", "tensor", "pr_curve"];

/** A card that keeps up with its runs. */
export class LiveCard {
  /** @param {App} app @param {Block} block */
  constructor(app, block) {
    this.app = app;
    this.block = block;
    /** The app that the page sees. */
    this.inner = app;
    /** @type {import("../../core/types.js").View | null} */
    this.view = null;
    this.ended = false;
    this.stopWaiting = () => {};
    this.root = h("div", { class: `view-${block.view}` });
    this.stage = h("div", { class: block.card ? "live-card pin-path" : "live-page" }, this.root);
    this.foot = h("div", null);
    this.element = h("div", { class: "pinned" }, this.stage, this.foot);
    this.watcher = new MutationObserver(() => this.mark());
    this.visibility = whenNear(this.element, () => this.start());
    this.visibility.ask();
  }

  /** Mount the page filtered to the card, and unfiltered if the card does not appear. */
  async start() {
    const { block } = this;
    const narrow = block.card && FILTERED.includes(block.view);
    await this.mount(narrow ? narrowed(block) : block.query);
    if (narrow && !(await this.appears())) await this.mount(block.query);
    if (block.card && !(await this.appears())) this.miss();
  }

  /** Resolve to whether the card appears before the page has no more requests in flight. */
  async appears() {
    const come = () => this.ended || this.target() !== null;
    if (come()) return true;
    /** @type {(() => void)[]} */
    const ends = [];
    await new Promise((resolve) => {
      const observer = new MutationObserver(() => come() && resolve(null));
      observer.observe(this.root, { attributes: true, childList: true, subtree: true });
      let quiet = 0;
      const off = onAsking((count) => {
        clearTimeout(quiet);
        if (!count) quiet = window.setTimeout(resolve, QUIET_MS);
      });
      const longest = setTimeout(resolve, LONGEST_MS);
      this.stopWaiting = () => resolve(null);
      ends.push(
        off,
        () => observer.disconnect(),
        () => clearTimeout(quiet),
        () => clearTimeout(longest),
      );
    });
    ends.forEach((end) => end());
    return come();
  }

  /** Mount the page with a query. @param {string} query */
  async mount(query) {
    const { app, block, root } = this;
    this.leave();
    const url = new FixedUrl(query);
    this.inner = { ...app, url, selection: app.selection.beside(url) };
    this.root = h("div", { class: `view-${block.view}` });
    root.replaceWith(this.root);
    if (block.card) this.watcher.observe(this.root, { childList: true, subtree: true });
    try {
      const module = await importView(block.view);
      if (this.ended) return;
      const view = await module.mount(this.root, this.inner);
      if (this.ended) view.unmount();
      else this.view = view;
    } catch (thrown) {
      const error = /** @type {Failure} */ (thrown);
      replace(this.foot, h("p", { class: "muted" }, app.t(error?.key ?? "error.view", error?.vars)));
      return;
    }
    this.root.querySelectorAll("details:not([open])").forEach((group) => {
      if (block.card && !this.target()) group.setAttribute("open", "");
    });
    this.mark();
    replace(this.foot, legend(app, legendOf(this.inner), app.t("reports.live")));
  }

  /** Return the card's element, or null while it is not there. */
  target() {
    return cardsNamed(this.root, this.block.card)[this.block.position] ?? null;
  }

  /** Show the card and hide the rest of the page. */
  mark() {
    const target = this.block.card ? this.target() : null;
    if (!target || target.classList.contains("pin-target")) return;
    this.foot.querySelector(".pin-missing")?.remove();
    this.root.querySelectorAll(".pin-path, .pin-target").forEach((/** @type {Element} */ element) => {
      element.classList.remove("pin-path", "pin-target");
    });
    target.classList.add("pin-target");
    for (let element = target.parentElement; element && element !== this.stage;) {
      element.classList.add("pin-path");
      if (element instanceof HTMLDetailsElement) element.open = true;
      element = element.parentElement;
    }
  }

  /** Show that the card was not found. */
  miss() {
    const { app, block } = this;
    replace(
      this.foot,
      h("p", { class: "muted pin-missing" }, app.t("reports.missing", { card: block.card })),
    );
  }

  /** Return the element to freeze, or null. @returns {Element | null} */
  shown() {
    return this.block.card ? this.target() : this.root;
  }

  /** Pass a change of data on to the page. @param {import("../../core/types.js").Change} change */
  update(change) {
    this.view?.update?.(change);
  }

  /** Unmount the page. */
  leave() {
    this.watcher.disconnect();
    this.view?.unmount();
    this.view = null;
    this.app.charts.removeAll(this.root);
    if (this.inner !== this.app) this.inner.selection.end();
  }

  /** Remove the card. */
  end() {
    this.ended = true;
    this.stopWaiting();
    this.visibility.end();
    this.leave();
  }
}

/** Return the query of the card's page with its filter set to the card. @param {Block} block */
export function narrowed({ view, query, card }) {
  const params = new URLSearchParams(query);
  params.set("q", PATTERNS.includes(view) ? exactPattern(card) : card);
  return params.toString();
}
