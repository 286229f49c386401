// Operators tab: tree of operators by scope. Branches with non-finite values are marked.

import { button } from "../../components/button.js";
import { NON_FINITE_BADGE } from "../../components/hatching.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { keepFocus } from "../../core/focus.js";
import { latest } from "../../core/latest.js";
import { failure } from "../../components/dump/failure.js";
import { damage } from "../../components/dump/header.js";
import { position } from "../../components/dump/state.js";

/** @typedef {import("../../core/answers.js").TreeEntry} TreeEntry */
/** @typedef {import("../dump.js").Page} Page */

const POLL = 1500; // ms after which the marks are read again while statistics are counted

/** Create the Operators tab of a dump: the tree of operators by scope. @param {Page} page */
export function treePart(page) {
  const tree = new OperatorTree(page);
  tree.refresh();
  return tree;
}

/** Tree that loads scopes when they are opened. */
class OperatorTree {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    const label = page.app.t("dump.tab.tree");
    this.list = h("ul", { class: "dump-tree", role: "tree", "aria-label": label });
    this.element = h("div", { class: "panel dump-tree-holder scroll", tabindex: "0" }, this.list);
    /** Paths of the open scopes. @type {Set<string>} */
    this.open = new Set();
    /** Whether statistics of a branch are still being counted. */
    this.counting = false;
    this.requests = latest();
  }

  /** Request the open branches; repeat until all statistics are computed. */
  refresh() {
    this.counting = false;
    this.requests.ask(
      () => this.children([]),
      (items) => {
        keepFocus(this.list, () => replace(this.list, items));
        if (this.counting) this.requests.later(() => this.refresh(), POLL);
      },
      (error) => replace(this.list, h("li", null, failure(this.page.app, error))),
    );
  }

  /** Redraw if another operator was chosen. @param {string[]} keys of the state */
  changed(keys) {
    if (keys.includes("operator")) this.refresh();
  }

  /** Request and create the entries of a scope. @param {string[]} scope @returns {Promise<HTMLElement[]>} */
  async children(scope) {
    const { app, state } = this.page;
    const response = await app.api.get("v2/dump/tree", { ...position(state), scope });
    this.counting ||= !response.done;
    const items = await Promise.all(
      response.children.map((child) => (child.scope ? this.branch(scope, child) : this.leaf(child))),
    );
    const damaged = response.damage.map((record) => h("li", null, damage(this.page, record)));
    const more = response.left_out;
    return [
      ...damaged,
      ...items,
      ...(more ? [h("li", { class: "muted" }, app.t("dump.left_out", { n: more }))] : []),
    ];
  }

  /** Create the entry of a scope. @param {string[]} scope @param {TreeEntry} child a scope in it */
  async branch(scope, child) {
    const { open } = this;
    const path = [...scope, child.name];
    const key = path.join("\n");
    const inner = h("ul", { role: "group" });
    const toggle = h(
      "button",
      { type: "button", class: "quiet", "aria-expanded": open.has(key), onclick: () => fold(open.has(key)) },
      icon("right"),
      child.name,
    );
    /** @param {boolean} close */
    const fold = async (close) => {
      if (close) open.delete(key);
      else open.add(key);
      toggle.setAttribute("aria-expanded", String(!close));
      const items = close ? [] : await this.children(path);
      if (open.has(key) !== close) replace(inner, items); // not when it was folded again meanwhile
    };
    if (open.has(key)) replace(inner, await this.children(path));
    const { operators, parameters } = child;
    const counts = Object.entries({ operators, parameters })
      .filter(([, n]) => n > 0)
      .map(([kind, n]) => h("span", { class: "badge" }, this.page.app.t(`dump.tree.${kind}`, { n })));
    return h(
      "li",
      { role: "treeitem", "data-key": key },
      h("div", { class: "row" }, toggle, counts, this.mark(child)),
      inner,
    );
  }

  /** Create the entry of an operator. @param {TreeEntry} child an operator */
  leaf(child) {
    const { change, state } = this.page;
    const current = child.recorded === state.operator && child.graph === state.graph;
    const show = () => change({ graph: child.graph, operator: child.recorded, tensor: "" });
    return h(
      "li",
      { role: "treeitem", "data-key": `${child.graph} ${child.recorded}`, "aria-selected": current },
      h(
        "div",
        { class: current ? "row current" : "row" },
        button(child.name, show, { class: "link" }),
        h("span", { class: "muted" }, child.type),
        this.mark(child),
      ),
    );
  }

  /**
   * Create the badge of non-finite values, or false if there are none. Parameters put nothing out.
   * @param {TreeEntry} child
   */
  mark({ lost, parameters, type }) {
    const key = parameters || type === "Parameter" ? "dump.tree.non_finite_held" : "dump.tree.non_finite";
    return lost > 0 && h("span", { class: NON_FINITE_BADGE }, this.page.app.t(key, { n: lost }));
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
  }
}
