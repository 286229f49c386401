// Tree of scopes and operators beside the drawing. It opens where a node is selected.

import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { keepFocus } from "../../core/focus.js";
import { latest } from "../../core/latest.js";
import { reveal } from "./scroll_to_row.js";

/** @typedef {import("../../core/answers.js").Ask} Ask */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{id: number, path: string, label: string, kind: string, type: string, count: number}} Entry */

const ROOT = 0;
const MOST = 300; // rows of one scope

/**
 * @typedef {Object} Actions
 * @property {Ask} ask
 * @property {(id: number) => void} goTo
 * @property {(error: Failure) => unknown} failed
 */

/** Tree of a graph's scopes that loads them when they are opened. */
export class Outline {
  /** The nodes inside the scopes that were looked into. @type {Map<number, Entry[]>} */
  #children = new Map();
  /** @type {Set<number>} */
  #open = new Set();
  /** @type {number | null} */
  #current = null;

  /** @param {App} app @param {Actions} actions */
  constructor(app, actions) {
    this.app = app;
    this.actions = actions;
    this.list = h("ul", { class: "branch", role: "tree", "aria-label": app.t("graph.outline") });
    this.element = h("div", { class: "graph-outline scroll" }, this.list);
    this.requests = latest(this.element);
  }

  /** Start with another graph. */
  reset() {
    this.requests.end();
    this.#children.clear();
    this.#open.clear();
    this.#current = null;
    return this.#load([ROOT]);
  }

  /**
   * Mark a node and open the scopes around it.
   * @param {number | null} id
   * @param {{id: number}[]} around the scopes it is in
   */
  select(id, around) {
    const scopes = around.map((scope) => scope.id);
    this.#current = id;
    scopes.forEach((scope) => this.#open.add(scope));
    return this.#load(scopes, this.actions.failed);
  }

  /**
   * Load the contents of scopes that are not loaded yet, then draw.
   * @param {number[]} scopes
   * @param {(error: Failure) => unknown} [failed]
   */
  #load(scopes, failed) {
    const missing = scopes.filter((scope) => !this.#children.has(scope));
    const inside = (/** @type {number} */ scope, /** @type {AbortSignal} */ signal) =>
      this.actions.ask("v2/graph/inside", { node: scope === ROOT ? "" : scope }, signal);
    return this.requests.join(
      (signal) => Promise.all(missing.map((scope) => inside(scope, signal))),
      (responses) => {
        missing.forEach((scope, i) => this.#children.set(scope, responses[i].inside));
        this.#draw();
      },
      failed,
    );
  }

  /** Draw the tree and scroll to the selected node. */
  #draw() {
    keepFocus(this.element, () => replace(this.list, this.#rows(ROOT)));
    const row = /** @type {HTMLElement | null} */ (this.element.querySelector(".current"));
    if (row) reveal(this.element, row);
  }

  /** Create the rows inside a scope. @param {number} scope @returns {HTMLElement[]} */
  #rows(scope) {
    const entries = this.#children.get(scope) ?? [];
    const rows = entries.slice(0, MOST).map((entry) => this.#row(entry));
    const hidden = this.app.t("graph.rest", { n: entries.length - MOST });
    return entries.length > MOST ? [...rows, h("li", { class: "muted small" }, hidden)] : rows;
  }

  /** Create the row of a node, with its children if it is open. @param {Entry} entry */
  #row(entry) {
    const opened = this.#open.has(entry.id);
    const current = entry.id === this.#current;
    const actions = { toggle: () => this.#toggle(entry.id), goTo: () => this.actions.goTo(entry.id) };
    return h(
      "li",
      { role: "treeitem", "aria-selected": current, "aria-expanded": entry.count > 0 ? opened : null },
      line(this.app, entry, { opened, current, ...actions }),
      opened && h("ul", { class: "branch", role: "group" }, this.#rows(entry.id)),
    );
  }

  /** Open or close a scope. @param {number} id */
  #toggle(id) {
    if (this.#open.delete(id)) return this.#draw();
    this.#open.add(id);
    return this.#load([id], this.actions.failed);
  }
}

/**
 * Create one line of the tree: a button that opens the scope, and its name.
 * @param {App} app
 * @param {Entry} entry
 * @param {{opened: boolean, current: boolean, toggle: () => void, goTo: () => void}} state
 */
function line({ t }, entry, { opened, current, toggle, goTo }) {
  const label = entry.label || t("graph.call");
  const fold =
    entry.count > 0 &&
    h(
      "button",
      {
        type: "button",
        class: "icon quiet fold",
        "aria-label": t(opened ? "graph.outline.close" : "graph.outline.open", { scope: label }),
        "data-focus": `fold:${entry.id}`,
        onclick: toggle,
      },
      icon(opened ? "down" : "right"),
    );
  const name = {
    type: "button",
    class: "link ellipsis",
    title: entry.path,
    "data-focus": `name:${entry.id}`,
    onclick: goTo,
  };
  return h(
    "div",
    { class: current ? "row current" : "row" },
    fold || h("span", { class: "fold" }),
    h("i", { class: `graph-key ${entry.kind}` }),
    h("button", name, label),
  );
}
