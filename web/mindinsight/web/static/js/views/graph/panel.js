// Details panel of a node: path, type, attributes, inputs and outputs.

import { button } from "../../components/button.js";
import { bytes } from "../../core/format.js";
import { h } from "../../core/dom.js";
import { attributes, entries, outerRow, placeRow, stacks, valueRow } from "./panel_lists.js";
import { operations, scaled } from "./model_card.js";

/** @typedef {import("../../core/answers.js").FlowFacts} FlowFacts */
/** @typedef {import("../../core/answers.js").GraphNode} GraphNode */
/** @typedef {import("../../core/answers.js").NodeFacts} NodeFacts */
/** @typedef {import("../../core/answers.js").OuterFacts} OuterFacts */
/** @typedef {import("../../core/dom.js").Child} Child */
/** @typedef {import("../../core/types.js").App} App */
/**
 * Facts about a node, and how the page shows it.
 * @typedef {NodeFacts & {opened?: boolean, flat?: boolean, bookmark?: Child, traced?: string, shown?:
 *   string}} About
 */
/**
 * @typedef {Object} Actions
 * @property {(id: number) => void} goTo
 * @property {(node: number) => void} outer
 * @property {(id: number) => void} toggle
 * @property {(id: number) => void} [flatten] a scope, or show its layers again
 * @property {(direction: "up" | "down" | null) => void} trace
 * @property {(attribute: string) => void} [show] an attribute on all operators, or none
 */

/** Create the empty panel that describes the selected node. @param {App} app @returns {HTMLElement} */
export function panelElement({ t }) {
  const label = t("graph.about");
  return h("div", { class: "graph-about scroll", role: "region", "aria-label": label, tabindex: "0" });
}

/**
 * Create the details of a node.
 * @param {App} app
 * @param {About} about
 * @param {string | null} traced
 * @param {Actions} actions
 * @param {HTMLElement | null} [dumped] what a dump has of it
 */
export function nodeFacts(app, about, traced, actions, dumped = null) {
  const { t } = app;
  return h(
    "div",
    { class: "graph-facts stack" },
    h(
      "div",
      null,
      around(app, about, actions),
      h("h2", { title: about.path }, about.label || t("graph.call")),
    ),
    h("dl", { class: "pairs" }, summary(app, about)),
    h(
      "div",
      { class: "row wrap" },
      about.count
        ? button(t(about.opened ? "graph.close" : "graph.open"), () => actions.toggle(about.id))
        : null,
      (about.operators ?? 0) > about.count && actions.flatten
        ? button(t(about.flat ? "graph.layers" : "graph.flatten"), () => actions.flatten?.(about.id))
        : null,
      traceButtons(app, traced, actions),
      about.bookmark,
    ),
    tracedText(about.traced),
    dumped,
    entries(app, "graph.inputs", about.inputs, (node) => placeRow(app, node, actions)),
    entries(app, "graph.outer", about.outer, (outer) => outerRow(outer, actions)),
    entries(app, "graph.outputs", about.outputs, (node) => placeRow(app, node, actions)),
    attributes(app, about.attributes ?? [], about.shown ?? "", actions.show),
    entries(app, "graph.identical", about.identical, (node) => placeRow(app, node, actions)),
    stacks(app, about.stacks ?? []),
  );
}

/**
 * Create the details of a parameter or constant.
 * @param {App} app
 * @param {OuterFacts} about
 * @param {Actions} actions
 * @param {HTMLElement | null} [dumped] what a dump has of it
 */
export function outerFacts(app, about, actions, dumped = null) {
  const { t } = app;
  return h(
    "div",
    { class: "graph-facts stack" },
    h(
      "div",
      null,
      h("p", { class: "muted small" }, t(`graph.kind.${about.kind}`)),
      h("h2", null, about.label),
    ),
    h(
      "dl",
      { class: "pairs" },
      pair(t(about.kind === "constant" ? "graph.value" : "graph.type"), about.text || "–"),
    ),
    dumped,
    entries(app, "graph.users", about.users, (node) => placeRow(app, node, actions)),
    attributes(app, about.attributes),
  );
}

/**
 * Create the details of a line between two boxes.
 * @param {App} app
 * @param {FlowFacts} about
 * @param {Actions} actions
 */
export function flowFacts(app, about, actions) {
  const { t } = app;
  const end = (/** @type {GraphNode} */ node) =>
    h(
      "button",
      { type: "button", class: "link", title: node.path, onclick: () => actions.goTo(node.id) },
      node.label || t("graph.call"),
    );
  return h(
    "div",
    { class: "graph-facts stack" },
    h("p", { class: "muted small" }, t("graph.flow")),
    h("h2", null, end(about.source), " → ", end(about.target)),
    entries(app, "graph.flow.values", about.values, (value) => valueRow(app, value, actions)),
  );
}

/**
 * Create the breadcrumbs of the scopes around a node.
 * @param {App} app
 * @param {NodeFacts} about
 * @param {Actions} actions
 */
function around(app, about, actions) {
  const scopes = about.around.map((scope) =>
    h(
      "li",
      null,
      h("button", { type: "button", class: "link", onclick: () => actions.goTo(scope.id) }, scope.label),
    ),
  );
  return h("nav", { "aria-label": app.t("graph.around") }, h("ol", { class: "crumbs small" }, scopes));
}

/** Create the main facts of an operator or scope. @param {App} app @param {NodeFacts} about */
function summary(app, about) {
  const { t } = app;
  if (about.operators === undefined) {
    return [
      pair(t("graph.operator"), about.type || t("graph.call")),
      pair(t("graph.output"), about.output || "–"),
      about.dynamic ? pair(t("graph.shape"), t("graph.dynamic")) : null,
    ];
  }
  const types = Object.entries(about.types ?? {})
    .slice(0, 6)
    .map(([type, count]) => `${type} ${count}`)
    .join(", ");
  return [
    pair(t("graph.what"), t(`graph.kind.${about.kind}`)),
    pair(t("graph.children"), String(about.count)),
    pair(t("graph.operators"), String(about.operators)),
    pair(t("graph.types"), Object.keys(about.types ?? {}).length > 6 ? `${types}, …` : types),
    about.parameters
      ? pair(t("graph.parameters"), `${scaled(about.parameters)} · ${bytes(about.bytes)}`)
      : null,
    about.flops || about.uncounted ? pair(t("graph.card.flops"), operations(about, "FLOP")) : null,
  ];
}

/** Create a term and its value. @param {string} name @param {string} value */
function pair(name, value) {
  return [h("dt", null, name), h("dd", null, value)];
}

/**
 * Create the buttons that highlight what a node depends on, or what depends on it.
 * @param {App} app
 * @param {string | null} traced
 * @param {Pick<Actions, "trace">} actions
 */
export function traceButtons(app, traced, actions) {
  return /** @type {const} */ (["up", "down"]).map((direction) => {
    const on = traced === direction;
    return button(app.t(`graph.trace.${direction}`), () => actions.trace(on ? null : direction), {
      "aria-pressed": on,
    });
  });
}

/**
 * Create the line with the result of a trace. It is hidden if there is none.
 * @param {string | undefined} text
 */
export function tracedText(text) {
  return h("p", { class: "small traced", role: "status", hidden: !text }, text ?? "");
}
