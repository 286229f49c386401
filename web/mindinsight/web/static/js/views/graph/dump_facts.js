// Section of the details panel with a node's dumped tensors, or with the anomalous operators of a scope.

import { claimElement } from "../../core/claims.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "../../components/dump/failure.js";
import { shapeText, slotText } from "../../components/dump/rows.js";
import { tensorTable } from "../../components/dump/tensor_table.js";
import { SIGNS } from "../../components/graph/dump_marks.js";

/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../../core/answers.js").DumpedNode} DumpedNode */
/** @typedef {import("../../core/answers.js").Dumped} Dumped */
/** @typedef {import("../../core/types.js").Parameters} Parameters */
/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Asked
 * @property {() => Promise<DumpedNode>} ask
 * @property {Parameters} position dump, rank and step, as the page of dumps has them
 * @property {(id: number) => void} goTo
 */

const COUNTING = 1000; // ms between questions while statistics are counted

/**
 * Create the section with a node's dumped tensors, or the anomalous operators of a scope. It refreshes until
 * all statistics are computed. `end()` stops that.
 * @param {App} app
 * @param {Asked} asked
 */
export function dumpFacts(app, { ask, position, goTo }) {
  const element = h("section", { class: "graph-dump-facts" });
  const asking = latest();
  let filled = false;

  const draw = () =>
    asking.ask(
      ask,
      (answer) => {
        (filled ? renew : replace)(element, content(app, answer, position, goTo));
        filled = true;
        if (!answer.done && element.isConnected) asking.later(draw, COUNTING);
      },
      (error) => replace(element, failure(app, error)),
    );

  draw();
  return { element, end: asking.end };
}

/**
 * Create the content of the section; [] if the dump has nothing about the node.
 * @param {App} app
 * @param {DumpedNode} found
 * @param {Parameters} position
 * @param {(id: number) => void} goTo
 */
function content(app, { operators, claims, worst, total }, position, goTo) {
  const { t } = app;
  if (!operators.length && !worst.length) return [];
  const sign = (/** @type {string} */ symptom) =>
    h(
      "span",
      { class: `graph-sign ill ${symptom}`, title: t(`graph.symptom.${symptom}`, { n: 1 }) },
      SIGNS[/** @type {keyof typeof SIGNS} */ (symptom)],
    );
  const row = (/** @type {DumpedNode["worst"][number]} */ operator) =>
    h(
      "li",
      null,
      h(
        "button",
        { type: "button", class: "link ellipsis", title: operator.path, onclick: () => goTo(operator.id) },
        operator.label || t("graph.call"),
      ),
      sign(operator.symptom),
    );
  const hidden = total - worst.length;
  return [
    h("h3", null, t("graph.dump.here"), total > 0 && h("span", { class: "badge" }, String(total))),
    claims.map((claim) => claimElement(app, claim)),
    worst.length > 0 &&
      h(
        "ul",
        { class: "entries scroll" },
        worst.map(row),
        hidden > 0 && h("li", { class: "muted small" }, t("graph.rest", { n: hidden })),
      ),
    operators.map((operator) => dumped(app, operator, position)),
  ];
}

/**
 * Create claims about a dump, with links to operators that the graph does not have.
 * @param {App} app
 * @param {import("../../core/claims.js").Claim[]} claims
 * @param {Parameters} position
 */
export function dumpClaims(app, claims, position) {
  return claims.map((claim) => {
    const { graph, recorded } = /** @type {Record<string, string>} */ (claim.evidence[0] ?? {});
    const href = recorded ? app.url.link("dump", { ...position, graph, operator: recorded }) : null;
    return [claimElement(app, claim), href && h("a", { href }, app.t("graph.dump.open"))];
  });
}

/**
 * Create the table of an operator's tensors.
 * @param {App} app
 * @param {Dumped} operator
 * @param {Parameters} position
 */
function dumped(app, operator, position) {
  const { graph, recorded } = operator;
  const link = (/** @type {string | null} */ tensor) =>
    app.url.link("dump", { ...position, graph, operator: recorded, tensor });
  const slot = (/** @type {Tensor} */ row) =>
    h(
      "a",
      { href: link(`${row.direction}/${row.slot}`), title: `${row.dtype} ${shapeText(row.shape)}` },
      slotText(app, row),
    );
  const open = { class: "small", href: link(null) };
  return h(
    "section",
    null,
    h(
      "h4",
      { class: "row wrap" },
      h("span", { class: "ellipsis", title: operator.operator }, operator.operator.split("/").pop()),
      h("a", open, app.t("graph.dump.open")),
    ),
    operator.updated && h("p", { class: "muted small" }, app.t("dump.after_update_why")),
    tensorTable(app, operator.tensors, slot),
  );
}
