// The page of one graph: two rows of controls above, the drawing, and beside it the side panel.

import { h } from "../../core/dom.js";
import { SidePanel } from "./side_panel.js";

/**
 * @typedef {Object} Parts
 * @property {HTMLElement} tools
 * @property {{tools: HTMLElement, status: HTMLElement}} dumped
 * @property {HTMLElement} notes
 * @property {{element: HTMLElement}} data
 * @property {{element: HTMLElement}} canvas
 * @property {{element: HTMLElement}} side
 */

/** @param {import("../../core/types.js").App} app @param {Parts} parts */
export function graphLayout({ t }, { tools, dumped, notes, data, canvas, side }) {
  return h(
    "div",
    { class: "graph one" },
    h("h1", { class: "unseen" }, t("nav.graph")),
    tools,
    h("div", { class: "row wrap graph-lines" }, dumped.tools, notes, data.element, dumped.status),
    h("div", { class: "graph-body" }, canvas.element, side.element),
  );
}

/**
 * The panel beside the drawing: search, and below it what the network, a node and the tree of scopes are.
 * @param {import("../../core/types.js").App} app
 * @param {Record<"finder" | "card" | "describer" | "outline", {element: HTMLElement}>} parts
 */
export function graphTabs({ t }, { finder, card, describer, outline }) {
  return new SidePanel(t("graph.panel"), t("graph.panel.width"), finder.element, [
    { name: "model", label: t("graph.tab.model"), element: card.element },
    { name: "details", label: t("graph.tab.details"), element: describer.element },
    { name: "outline", label: t("graph.outline"), element: outline.element },
  ]);
}
