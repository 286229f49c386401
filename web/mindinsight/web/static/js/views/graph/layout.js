// The page of one graph: controls and notes above, the drawing, and beside it search, outline and panel.

import { h } from "../../core/dom.js";

/**
 * @typedef {Object} Parts
 * @property {HTMLElement} tools
 * @property {{tools: HTMLElement, status: HTMLElement}} dumped
 * @property {HTMLElement} notes
 * @property {{element: HTMLElement}} canvas
 * @property {{element: HTMLElement}} finder
 * @property {{element: HTMLElement}} outline
 * @property {HTMLElement} facts
 */

/** @param {import("../../core/types.js").App} app @param {Parts} parts */
export function graphLayout({ t }, { tools, dumped, notes, canvas, finder, outline, facts }) {
  const side = h(
    "aside",
    { class: "graph-side", "aria-label": t("graph.panel") },
    finder.element,
    outline.element,
    facts,
  );
  return h(
    "div",
    { class: "graph" },
    h("h1", { class: "unseen" }, t("nav.graph")),
    tools,
    dumped.tools,
    h("div", { class: "row wrap graph-lines" }, notes, dumped.status),
    h("div", { class: "graph-body" }, canvas.element, side),
  );
}
