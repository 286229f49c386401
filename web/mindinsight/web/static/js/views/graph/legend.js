// Legend of shapes, lines and keys.

import { menu } from "../../components/dialog.js";
import { h } from "../../core/dom.js";

const KINDS = [
  "scope",
  "group",
  "repeat",
  "rest",
  "run",
  "operator",
  "plumbing",
  "call",
  "parameter",
  "constant",
];
const LINES = ["data", "up", "control", "stub"];
const KEYS = [
  ["←↑→↓", "arrows"],
  ["Enter", "enter"],
  ["/", "search"],
  ["u  d", "trace"],
  ["+  −  0", "zoom"],
  ["Esc", "escape"],
];

/**
 * Open the legend of a graph's shapes, lines and keys.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} anchor
 */
export function guide(app, anchor) {
  const { t } = app;
  const kinds = KINDS.map((kind) =>
    h(
      "li",
      null,
      h("i", { class: `graph-key ${kind}` }),
      h("span", null, h("b", null, t(`graph.kind.${kind}`)), " – ", t(`graph.kind.${kind}.what`)),
    ),
  );
  const lines = LINES.map((line) =>
    h("li", null, h("i", { class: `graph-key line ${line}` }), h("span", null, t(`graph.line.${line}`))),
  );
  const keys = KEYS.map(([key, name]) => [
    h("dt", null, h("kbd", null, key)),
    h("dd", null, t(`graph.key.${name}`)),
  ]);
  menu(
    anchor,
    h(
      "div",
      { class: "stack graph-legend" },
      h("h3", null, t("graph.legend")),
      h("ul", null, kinds, lines),
      h("h3", null, t("graph.legend.keys")),
      h("dl", { class: "pairs small" }, keys),
    ),
    t("graph.legend"),
  );
}
