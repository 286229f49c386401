// The scopes and operators of a graph as a tree beside the drawing: it opens where something is selected.

import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{id: number, path: string, label: string, kind: string, type: string, count: number}} Entry */

const ROOT = 0;
const MOST = 300; // rows of one scope

/**
 * @param {App} app
 * @param {{ask: (path: string, params: Record<string, any>) => Promise<any>, goTo: (id: number) => void,
 *   tried: (what: () => Promise<any>) => void}} does
 */
export function createOutline(app, does) {
  const { t } = app;
  /** What is inside the scopes that were looked into. @type {Map<number, Entry[]>} */
  const known = new Map();
  /** @type {Set<number>} */
  const open = new Set();
  /** @type {number | null} */
  let current = null;
  let graphs = 0; // counted up with every other graph
  const list = h("ul", { class: "branch", role: "tree", "aria-label": t("graph.outline") });
  const element = h("div", { class: "graph-outline scroll" }, list);

  /** Look into scopes, then draw. @param {number[]} places */
  const into = async (places) => {
    const graph = graphs;
    const missing = places.filter((place) => !known.has(place));
    const found = await Promise.all(
      missing.map((place) => does.ask("v2/graph/inside", { node: place === ROOT ? "" : place })),
    );
    if (graph !== graphs) return;
    missing.forEach((place, i) => known.set(place, found[i].inside));
    draw();
  };

  const draw = () => {
    const focus = element.contains(document.activeElement)
      ? document.activeElement?.getAttribute("data-focus")
      : null;
    replace(list, rows(ROOT));
    if (focus) /** @type {HTMLElement | null} */ (element.querySelector(`[data-focus="${focus}"]`))?.focus();
    const chosen = /** @type {HTMLElement | null} */ (element.querySelector(".current"));
    if (!chosen) return;
    const above = chosen.offsetTop - element.scrollTop;
    if (above < 0 || above > element.clientHeight - chosen.offsetHeight) {
      element.scrollTop += above - element.clientHeight / 3;
    }
  };

  /** @param {number} place @returns {HTMLElement[]} */
  const rows = (place) => {
    const all = known.get(place) ?? [];
    const shown = all.slice(0, MOST).map(row);
    return all.length > MOST
      ? [...shown, h("li", { class: "muted small" }, t("graph.rest", { n: all.length - MOST }))]
      : shown;
  };

  /** @param {Entry} one */
  const row = (one) => {
    const label = one.label || t("graph.call");
    const opened = open.has(one.id);
    const fold =
      one.count > 0 &&
      h(
        "button",
        {
          type: "button",
          class: "icon quiet fold",
          "aria-label": t(opened ? "graph.outline.close" : "graph.outline.open", { scope: label }),
          "data-focus": `fold:${one.id}`,
          onclick: () => toggle(one.id),
        },
        icon(opened ? "down" : "right"),
      );
    const name = h(
      "button",
      {
        type: "button",
        class: "link ellipsis",
        title: one.path,
        "data-focus": `name:${one.id}`,
        onclick: () => does.goTo(one.id),
      },
      label,
    );
    const line = h(
      "div",
      { class: one.id === current ? "row current" : "row" },
      fold || h("span", { class: "fold" }),
      h("i", { class: `graph-key ${one.kind}` }),
      name,
    );
    return h(
      "li",
      {
        role: "treeitem",
        "aria-selected": one.id === current,
        "aria-expanded": one.count > 0 ? opened : null,
      },
      line,
      opened && h("ul", { class: "branch", role: "group" }, rows(one.id)),
    );
  };

  /** @param {number} id */
  const toggle = (id) => {
    if (open.delete(id)) return draw();
    open.add(id);
    does.tried(() => into([id]));
  };

  return {
    element,

    /** Another graph. */
    reset() {
      graphs++;
      known.clear();
      open.clear();
      current = null;
      return into([ROOT]);
    },

    /** Show where a node is. @param {number | null} id @param {{id: number}[]} around the scopes it is in */
    select(id, around) {
      current = id;
      around.forEach((scope) => open.add(scope.id));
      return into(around.map((scope) => scope.id));
    },
  };
}
