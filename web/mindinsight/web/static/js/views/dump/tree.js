// Operators as a tree by scope; branches with something that is not finite are marked.

import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "./failure.js";
import { damage } from "./header.js";
import { place } from "./state.js";

/** @typedef {import("../dump.js").Page} Page */

const LATER = 1500; // ms after which the marks are looked at again while statistics are counted

/** @param {Page} page */
export function treePart(page) {
  const { app, state } = page;
  const { t } = app;
  const list = h("ul", { class: "dump-tree", role: "tree", "aria-label": t("dump.tab.tree") });
  const element = h("div", { class: "panel dump-tree-holder scroll", tabindex: "0" }, list);
  /** @type {Set<string>} */
  const open = new Set();
  const asking = latest();
  let counting = false;

  /** @param {string[]} scope @returns {Promise<HTMLElement[]>} */
  const children = async (scope) => {
    const answer = await app.api.get("v2/dump/tree", { ...place(state), scope });
    counting ||= !answer.done;
    const items = await Promise.all(
      answer.children.map((/** @type {any} */ child) => (child.scope ? branch(scope, child) : leaf(child))),
    );
    const damaged = answer.damage.map((/** @type {any} */ one) => h("li", null, damage(page, one)));
    items.unshift(...damaged);
    if (answer.left_out) items.push(h("li", { class: "muted" }, t("dump.left_out", { n: answer.left_out })));
    return items;
  };

  /** @param {string[]} scope @param {any} child */
  const branch = async (scope, child) => {
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
      const items = close ? [] : await children(path);
      if (open.has(key) !== close) replace(inner, items); // not when it was folded again meanwhile
    };
    if (open.has(key)) replace(inner, await children(path));
    return h(
      "li",
      { role: "treeitem" },
      h("div", { class: "row" }, toggle, h("span", { class: "badge" }, child.operators), mark(child)),
      inner,
    );
  };

  /** @param {any} child */
  const leaf = (child) => {
    const current = child.recorded === state.operator && child.graph === state.graph;
    const show = () => page.change({ graph: child.graph, operator: child.recorded, tensor: "" });
    return h(
      "li",
      { role: "treeitem", "aria-selected": current },
      h(
        "div",
        { class: current ? "row current" : "row" },
        h("button", { type: "button", class: "link", onclick: show }, child.name),
        h("span", { class: "muted" }, child.type),
        mark(child),
      ),
    );
  };

  /** @param {{lost: number}} child */
  const mark = (child) =>
    child.lost > 0 && h("span", { class: "badge bad" }, t("dump.not_finite", { n: child.lost }));

  const draw = () => {
    counting = false;
    asking.ask(
      () => children([]),
      (items) => {
        replace(list, items);
        if (counting) asking.later(draw, LATER);
      },
      (error) => replace(list, h("li", null, failure(app, error))),
    );
  };

  draw();
  return {
    element,
    /** @param {string[]} keys */
    changed: (keys) => {
      if (keys.includes("operator")) draw();
    },
    refresh: draw,
    end: asking.end,
  };
}
