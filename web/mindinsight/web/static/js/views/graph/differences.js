// List of the differences between two graphs, with previous and next.

import { iconButton } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { SIGNS } from "../../components/graph/badges.js";
import { createEdits } from "./edits.js";
import { reveal } from "./scroll_to_row.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{id: number, path: string, label: string, kind: string}} Entry */
/**
 * @typedef {Object} Difference
 * @property {"changed" | "only"} state
 * @property {number} operators
 * @property {Entry | null} left
 * @property {Entry | null} right
 */
/**
 * @typedef {Object} Found
 * @property {number} total
 * @property {Difference[]} shown
 * @property {import("../../core/claims.js").Claim[]} claims
 * @property {number} same
 * @property {number} changed
 * @property {number} follows
 * @property {{total: number, shown: import("./edits.js").Edit[]}} edits
 * @property {number} left
 * @property {number} right
 */

/** Return whether two graphs have no differences to list. @param {number} total of the differences */
export function nothingDiffers(total) {
  return total === 0;
}

/**
 * Create the list of the differences between two graphs. `step(±1)` goes to the next or previous difference.
 * @param {App} app
 * @param {(place: {left: {id: number} | null, right: {id: number} | null}) => void} goTo
 */
export function createDifferences(app, goTo) {
  const { t } = app;
  /** @type {Found | null} */
  let response = null;
  let current = -1;
  /** @type {HTMLElement[]} */
  let rows = [];
  const edits = createEdits(app, goTo);
  const position = h("span", { class: "muted small", role: "status" });
  const previous = iconButton("left", t("graph.difference.before"), () => step(-1));
  const next = iconButton("right", t("graph.difference.next"), () => step(1));
  const list = h("ol", { class: "branch" });
  const title = t("graph.differences");
  const region = { class: "graph-outline scroll", role: "region", "aria-label": title, tabindex: "0" };
  const scroll = h("div", region, list);
  const grow = h("span", { class: "grow" });
  const head = h("div", { class: "row" }, h("h2", null, title), grow, position, previous, next);
  const element = h("section", { class: "graph-differences", hidden: true }, head, scroll);

  /** @param {number} by */
  const step = (by) => {
    const rowsShown = response?.shown ?? [];
    if (!rowsShown.length) return;
    const from = current < 0 && by < 0 ? 0 : current;
    current = (from + by + rowsShown.length) % rowsShown.length;
    mark();
    goTo(rowsShown[current]);
  };

  const mark = () => {
    rows.forEach((row, i) => row.classList.toggle("current", i === current));
    const count = response?.shown.length ?? 0;
    position.textContent = current < 0 ? "" : t("graph.difference.at", { i: current + 1, n: count });
    previous.disabled = next.disabled = !count;
    if (rows[current]) reveal(scroll, rows[current]);
  };

  return {
    element,
    edits: edits.element,
    step,

    /** @param {Found} differences */
    show(differences) {
      response = differences;
      element.hidden = false;
      edits.show(response.edits, response.claims);
      current = -1;
      rows = response.shown.map((difference) => differenceRow(app, difference, goTo));
      const hidden = response.total - response.shown.length;
      const none =
        nothingDiffers(response.total) && h("li", { class: "muted small" }, t("graph.differences.none"));
      replace(
        list,
        none || rows,
        hidden > 0 && h("li", { class: "muted small" }, t("graph.rest", { n: hidden })),
      );
      mark();
    },

    /** Mark the selected pair. @param {number | undefined} left @param {number | undefined} right */
    select(left, right) {
      const selected = (/** @type {Difference} */ difference) =>
        difference.left ? difference.left.id === left : difference.right?.id === right;
      current = response?.shown.findIndex(selected) ?? -1;
      mark();
    },
  };
}

/**
 * Create the row of a difference.
 * @param {App} app
 * @param {Difference} difference
 * @param {(difference: Difference) => void} goTo
 */
function differenceRow({ t }, difference, goTo) {
  const { state, left, right, operators } = difference;
  const entry = /** @type {Entry} */ (left ?? right);
  const kind = state === "changed" ? "changed" : left ? "left" : "right";
  const meaning = t(`graph.pair.${kind}`);
  const label = operators > 1 ? `${entry.label} (${operators})` : entry.label || t("graph.call");
  const name = {
    type: "button",
    class: "link ellipsis",
    title: entry.path,
    "aria-label": `${label}, ${meaning}`,
    onclick: () => goTo(difference),
  };
  const scopes = entry.path.split("/").slice(-3, -1).join("/");
  return h(
    "li",
    { class: "row" },
    h("span", { class: `graph-sign ${state}`, title: meaning, "aria-hidden": "true" }, SIGNS[kind]),
    h("button", name, label),
    h("span", { class: "muted small ellipsis grow", "aria-hidden": "true" }, scopes),
  );
}
