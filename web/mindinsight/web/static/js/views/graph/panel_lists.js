// Lists of the details panel: inputs and outputs, parameters, attributes, source code.

import { h } from "../../core/dom.js";

/** @typedef {import("../../core/answers.js").NodeFacts} NodeFacts */
/** @typedef {import("../../core/answers.js").GraphNode} GraphNode */
/** @typedef {import("../../core/answers.js").Neighbour} Neighbour */
/** @typedef {import("../../core/answers.js").Outer} Outer */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./panel.js").Actions} Actions */

/**
 * Create a titled list with its total, or return null if it is empty.
 * @param {App} app
 * @param {string} key
 * @template T
 * @param {import("../../core/answers.js").Shown<T> | undefined} list
 * @param {(item: T) => HTMLElement} row
 */
export function entries(app, key, list, row) {
  if (!list?.total) return null;
  const hidden = list.total - list.shown.length;
  return h(
    "section",
    null,
    h("h3", null, app.t(key), h("span", { class: "badge" }, String(list.total))),
    h(
      "ul",
      { class: "entries scroll" },
      list.shown.map(row),
      hidden > 0 ? h("li", { class: "muted small" }, app.t("graph.rest", { n: hidden })) : null,
    ),
  );
}

/**
 * Create the row of a node.
 * @param {App} app
 * @param {GraphNode & {text?: string, control?: boolean}} node
 * @param {Actions} actions
 */
export function placeRow(app, node, actions) {
  const text = [node.text, node.control ? app.t("graph.control") : ""].filter(Boolean).join(" · ");
  return h(
    "li",
    null,
    h(
      "button",
      { type: "button", class: "link ellipsis", title: node.path, onclick: () => actions.goTo(node.id) },
      node.label || app.t("graph.call"),
    ),
    text && h("span", { class: "muted small" }, text),
  );
}

/** Create the row of a parameter or constant. @param {Outer} outer @param {Actions} actions */
export function outerRow(outer, actions) {
  return h(
    "li",
    null,
    h(
      "button",
      {
        type: "button",
        class: "link ellipsis",
        title: outer.label,
        onclick: () => actions.outer(outer.node),
      },
      outer.label,
    ),
    h("span", { class: "muted small" }, outer.text),
  );
}

/**
 * Create the list of an operator's attributes, or return null if there are none. A click on a name shows that
 * attribute on all operators.
 * @param {App} app
 * @param {string[][]} list
 * @param {string} shown the one that is shown in the drawing
 * @param {((attribute: string) => void) | undefined} show
 */
export function attributes(app, list, shown = "", show = undefined) {
  if (!list.length) return null;
  const label = (/** @type {string} */ name) =>
    show
      ? h(
          "button",
          {
            type: "button",
            class: "link",
            title: app.t("graph.attribute.show"),
            "aria-pressed": name === shown,
            onclick: () => show(name === shown ? "" : name),
          },
          name,
        )
      : name;
  return h(
    "section",
    null,
    h("h3", null, app.t("graph.attributes"), h("span", { class: "badge" }, String(list.length))),
    h(
      "dl",
      { class: "pairs small" },
      list.map(([name, value]) => [h("dt", null, label(name)), h("dd", { class: "mono" }, value)]),
    ),
  );
}

/**
 * Create the row of a value along a line, with its users.
 * @param {App} app
 * @param {Neighbour & {users: GraphNode[]}} value
 * @param {Actions} actions
 */
export function valueRow(app, value, actions) {
  const users = value.users
    .slice(0, 3)
    .map((user) => user.label)
    .join(", ");
  const row = placeRow(app, value, actions);
  row.append(h("span", { class: "muted small" }, `→ ${users}${value.users.length > 3 ? ", …" : ""}`));
  return row;
}

/**
 * Create the source code lines, innermost first, or return null if there are none.
 * @param {App} app
 * @param {NodeFacts["stacks"]} list
 */
export function stacks(app, list) {
  if (!list.length) return null;
  return h(
    "section",
    null,
    h("h3", null, app.t("graph.source")),
    list.map((stack) =>
      h(
        "ol",
        { class: "stack-lines small" },
        stack.map((frame) =>
          h(
            "li",
            null,
            h("span", { class: "muted mono" }, `${frame.file}:${frame.line}`),
            h("code", null, frame.code),
          ),
        ),
      ),
    ),
  );
}
