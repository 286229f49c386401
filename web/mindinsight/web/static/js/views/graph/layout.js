// Layout of the page of one graph: two rows of controls, the drawing, and the side panel.

import { button } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { openAll } from "./scopes.js";
import { SidePanel } from "./side_panel.js";

/**
 * Create the elements of the page of one graph: controls, drawing and side panel.
 * @param {import("../../core/types.js").App} app
 * @param {import("./explorer.js").Explorer} explorer
 */
export function graphLayout({ t, selection }, explorer) {
  const { tools, dumped, canvas, side } = explorer;
  const dumps = selection.all().some((run) => run.dumps.length);
  return h(
    "div",
    { class: "graph one" },
    h("h1", { class: "unseen" }, t("nav.graph")),
    tools,
    h(
      "div",
      { class: `row wrap graph-lines${dumps ? " dumped" : ""}` },
      dumped.tools,
      dumped.status,
      dumped.claims,
    ),
    h("div", { class: "graph-body" }, canvas.element, side.element),
  );
}

/**
 * Create the counts of the drawn graph, with the buttons that open all scopes and read values from a file.
 * @param {import("../../core/types.js").App} app
 * @param {import("./explorer.js").Explorer} explorer
 */
export function graphCounts({ t }, explorer) {
  const { notes, data } = explorer;
  const expand = button(t("graph.open_all"), () => explorer.act(() => openAll(explorer)), {
    class: "link small command",
  });
  return h("div", { class: "row grow graph-counts" }, notes, expand, data.element);
}

/**
 * Create the side panel: search above, and tabs for model, details and outline.
 * @param {import("../../core/types.js").App} app
 * @param {Record<"finder" | "bookmarks" | "card" | "describer" | "outline", {element: HTMLElement}>} parts
 */
export function graphTabs({ t }, { finder, bookmarks, card, describer, outline }) {
  const above = h("div", { class: "stack" }, finder.element, bookmarks.element);
  return new SidePanel(t("graph.panel"), t("graph.panel.width"), above, [
    { name: "model", label: t("graph.tab.model"), element: card.element },
    { name: "details", label: t("graph.tab.details"), element: describer.element },
    { name: "outline", label: t("graph.outline"), element: outline.element },
  ]);
}
