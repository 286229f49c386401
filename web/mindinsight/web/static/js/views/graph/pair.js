// Details of a node and its partner in the other graph: how they differ.

import { h } from "../../core/dom.js";
import { badgeOf, SIGNS } from "../../components/graph/badges.js";
import { tracedText, traceButtons } from "./panel.js";

/** @typedef {import("../../core/answers.js").GraphNode} GraphNode */
/** @typedef {import("../../core/answers.js").NodePair} NodePair */
/** @typedef {import("../../core/types.js").App} App */

/**
 * Create the details of a pair.
 * @param {App} app
 * @param {NodePair} pair
 * @param {{left: string, right: string}} links to each node by itself
 * @param {{direction: "up" | "down" | null, text?: string, trace: (direction: "up" | "down" | null) => void}}
 *   traced
 */
export function pairFacts(app, pair, links, traced) {
  const { t } = app;
  const { left, right } = pair;
  const entry = /** @type {GraphNode} */ (left ?? right);
  const badge = badgeOf({ ...pair, count: entry.count }, left ? "left" : "right", t);
  const state = pair.state === "only" ? (left ? "left" : "right") : pair.state;
  return h(
    "div",
    { class: "graph-facts stack" },
    h("div", null, h("h2", null, entry.label || t("graph.call")), paths(app, left, right)),
    h(
      "p",
      { class: "row" },
      badge &&
        h(
          "span",
          { class: `graph-sign ${badge.kind}`, "aria-hidden": "true" },
          SIGNS[/** @type {keyof typeof SIGNS} */ (state)],
        ),
      t(`graph.pair.${state}`),
    ),
    h("div", { class: "row wrap" }, traceButtons(app, traced.direction, traced)),
    tracedText(traced.text),
    badge && left && right && entry.count > 0 && h("p", null, badge.label),
    rows(app, pair),
    h(
      "p",
      { class: "row wrap small" },
      left && h("a", { href: links.left }, t("graph.pair.alone.left")),
      right && h("a", { href: links.right }, t("graph.pair.alone.right")),
    ),
  );
}

/**
 * Create the paths of both nodes, once if they are equal.
 * @param {App} app
 * @param {GraphNode | null} left
 * @param {GraphNode | null} right
 */
function paths(app, left, right) {
  const path = (/** @type {string} */ text) => h("span", { class: "mono path" }, text);
  if (!left || !right || left.path === right.path) {
    return h("p", { class: "muted small" }, path((left ?? right)?.path ?? ""));
  }
  return h(
    "dl",
    { class: "pairs small" },
    h("dt", null, app.t("graph.left")),
    h("dd", null, path(left.path)),
    h("dt", null, app.t("graph.right")),
    h("dd", null, path(right.path)),
  );
}

/**
 * Create the table of differences, or return null if there is none to list.
 * @param {App} app
 * @param {NodePair} pair
 */
function rows(app, pair) {
  const { t } = app;
  if (!pair.differences.length) {
    return pair.state === "changed" && !pair.left?.count
      ? h("p", { class: "muted" }, t("graph.pair.long"))
      : null;
  }
  const row = (/** @type {NodePair["differences"][number]} */ difference) =>
    h(
      "tr",
      null,
      h(
        "th",
        { scope: "row" },
        t(`graph.pair.${difference.what}`, { name: difference.name, n: Number(difference.name) + 1 }),
      ),
      h("td", { class: "mono" }, difference.left || "–"),
      h("td", { class: "mono" }, difference.right || "–"),
    );
  return h(
    "table",
    { class: "graph-pair small" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, t("graph.what")),
        h("th", { scope: "col" }, t("graph.left")),
        h("th", { scope: "col" }, t("graph.right")),
      ),
    ),
    h("tbody", null, pair.differences.map(row)),
  );
}
