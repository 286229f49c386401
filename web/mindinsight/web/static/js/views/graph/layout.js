// The page of one graph: two rows of controls above, the drawing, and beside it the side panel.

import { h } from "../../core/dom.js";

/**
 * @typedef {Object} Parts
 * @property {HTMLElement} tools
 * @property {{tools: HTMLElement, status: HTMLElement}} dumped
 * @property {HTMLElement} notes
 * @property {{element: HTMLElement}} canvas
 * @property {{element: HTMLElement}} side
 */

/** @param {import("../../core/types.js").App} app @param {Parts} parts */
export function graphLayout({ t }, { tools, dumped, notes, canvas, side }) {
  return h(
    "div",
    { class: "graph one" },
    h("h1", { class: "unseen" }, t("nav.graph")),
    tools,
    h("div", { class: "row wrap graph-lines" }, dumped.tools, notes, dumped.status),
    h("div", { class: "graph-body" }, canvas.element, side.element),
  );
}
