// Layout of the comparison: counts, both drawings, and beside them search, differences and details.

import { h } from "../../core/dom.js";
import { SIGNS } from "../../components/graph/badges.js";
import { NAMES, SIDES } from "./pair_requests.js";

/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Parts
 * @property {import("./pair_bar.js").PairBar} bar
 * @property {HTMLElement} counts
 * @property {import("../../components/graph/canvas.js").Canvas[]} canvases
 * @property {{element: HTMLElement}} finder
 * @property {{element: HTMLElement, edits: HTMLElement}} differences
 * @property {{element: HTMLElement}} panel
 */

/**
 * Create the elements of the page of two graphs: counts, both drawings, and the panel beside them.
 * @param {App} app
 * @param {Parts} parts
 */
export function pairLayout({ t }, { bar, counts, canvases, finder, differences, panel }) {
  const halves = SIDES.map((side) =>
    h(
      "section",
      { class: "graph-half", "aria-label": t(`graph.${NAMES[side]}`) },
      bar.choosers[side],
      canvases[side].element,
    ),
  );
  const sidebar = h(
    "aside",
    { class: "graph-side", "aria-label": t("graph.panel.compare") },
    finder.element,
    h("div", { class: "graph-findings" }, differences.edits, differences.element),
    panel.element,
  );
  return h(
    "div",
    { class: "graph" },
    h("h1", { class: "unseen" }, t("graph.mode.compare")),
    bar.tools,
    counts,
    h("div", { class: "graph-body two" }, halves, sidebar),
  );
}

/**
 * Return the number of equal and different operators with the signs used in the drawings.
 * @param {App} app
 * @param {import("./differences.js").Found} differences
 */
export function pairCounts({ t }, differences) {
  const countOf = (/** @type {keyof typeof SIGNS} */ kind) => {
    const name = `graph-sign ${kind === "left" || kind === "right" ? "only" : kind}`;
    const sign = h("span", { class: name, "aria-hidden": "true" }, SIGNS[kind]);
    return h("span", null, sign, ` ${t(`graph.within.${kind}`, { n: differences[kind] })}`);
  };
  const unchanged = h("span", null, t("graph.count.same", { n: differences.same }));
  return [unchanged, countOf("changed"), countOf("left"), countOf("right"), countOf("follows")];
}
