// The edits that lead from the left graph to the right one, equal ones grouped: LayerNorm → RmsNorm × 46.

import { h, replace } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./differences.js").Entry} Entry */
/**
 * @typedef {Object} Edit
 * @property {string} kind
 * @property {string} subject
 * @property {string} before
 * @property {string} after
 * @property {number} count
 * @property {Entry | null} left
 * @property {Entry | null} right
 */

/**
 * @param {App} app
 * @param {(edit: Edit) => void} goTo shows the first place of an edit
 */
export function createEdits(app, goTo) {
  const { t } = app;
  const title = t("graph.edits");
  const list = h("ol", { class: "branch" });
  const region = { class: "graph-outline scroll", role: "region", "aria-label": title, tabindex: "0" };
  const element = h(
    "section",
    { class: "graph-differences graph-edits" },
    h("div", { class: "row" }, h("h2", null, title)),
    h("div", region, list),
  );
  return {
    element,

    /** @param {{total: number, shown: Edit[]}} edits */
    show(edits) {
      const hidden = edits.total - edits.shown.length;
      element.hidden = !edits.total;
      replace(
        list,
        edits.shown.map((edit) => editRow(app, edit, goTo)),
        hidden > 0 && h("li", { class: "muted small" }, t("graph.rest", { n: hidden })),
      );
    },
  };
}

/**
 * @param {App} app
 * @param {Edit} edit
 * @param {(edit: Edit) => void} goTo
 */
function editRow({ t, format }, edit, goTo) {
  const { kind, subject, before, after, count } = edit;
  const text = t(`graph.edit.${kind}`, { subject, before: before || "–", after: after || "–" });
  const reachable = edit.left || edit.right;
  const name = reachable
    ? h("button", { type: "button", class: "link", title: text, onclick: () => goTo(edit) }, text)
    : h("span", { title: text }, text);
  return h(
    "li",
    { class: "row" },
    name,
    count > 1 && h("span", { class: "muted small count" }, `× ${format.number(count)}`),
  );
}
