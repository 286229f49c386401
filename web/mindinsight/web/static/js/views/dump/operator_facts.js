// Facts about one operator: links to graph and neighbours, source line, call stacks, arguments.

import { button } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { runWithGraph } from "../../components/graph/nearest_dumps.js";
import { short } from "../../components/dump/rows.js";
import { position } from "../../components/dump/state.js";

/** @typedef {import("../../core/answers.js").Link} Link */
/** @typedef {import("../../core/answers.js").Frame} Frame */
/** @typedef {import("../../core/answers.js").OperatorFacts} OperatorFacts */
/** @typedef {import("../dump.js").Page} Page */

/**
 * Create the link to the operator in the run's graph, or return null if there is none.
 * @param {Page} page
 * @param {OperatorFacts} operator
 */
export function graphLink({ app, dumps, state }, operator) {
  const dump = dumps.find(({ id }) => id === state.dump);
  const run =
    dump && runWithGraph(dump, state.rank, app.selection.everything(), ({ kinds }) => Boolean(kinds.graph));
  if (!run) return null;
  return h(
    "p",
    null,
    h(
      "a",
      {
        href: app.url.link("graph", {
          run: run.id,
          ...position(state),
          graph: operator.graph,
          operator: operator.recorded,
        }),
      },
      app.t("dump.in_graph"),
    ),
  );
}

/**
 * Create the source line with a link to all tensors from that line.
 * @param {Page} page
 * @param {Frame | null} source
 */
export function sourceLine(page, source) {
  if (!source) return h("p", { class: "muted" }, page.app.t("dump.no_source"));
  const line = `${source.file.split("/").pop()}:${source.line}`;
  const showTensors = () => page.change({ tab: "tensors", source: line });
  return h(
    "figure",
    { class: "dump-source" },
    h(
      "figcaption",
      null,
      button(`${source.file}:${source.line}`, showTensors, {
        class: "link",
        title: page.app.t("dump.all_from_line"),
      }),
    ),
    h("pre", null, source.code || source.function),
  );
}

/** Create the call stacks of the operator. @param {Page} page @param {OperatorFacts} operator */
export function callStacks(page, operator) {
  const line = (/** @type {Frame} */ frame) =>
    h(
      "li",
      { class: frame.own ? "own" : "muted" },
      `${frame.file}:${frame.line}`,
      frame.code && h("pre", null, frame.code),
    );
  const stacks = [operator.stack, ...operator.other_stacks];
  return h(
    "details",
    null,
    h("summary", null, page.app.t("dump.stack", { n: operator.stack.length })),
    stacks.map((frames) => h("ol", { class: "dump-stack" }, frames.map(line))),
  );
}

/**
 * Create the list of the operators before or after one, or return null if there are none.
 * @param {Page} page
 * @param {OperatorFacts} operator
 * @param {"inputs" | "outputs"} side
 */
export function links(page, operator, side) {
  const { t } = page.app;
  const items = operator[side];
  if (!items.length) return null;
  const item = (/** @type {Link} */ link) => {
    const go = () => page.change({ operator: link.recorded, tensor: "" });
    const name = link.known
      ? button(short(link.operator), go, { class: "link", title: link.operator })
      : h("span", null, link.operator);
    return h(
      "li",
      null,
      name,
      " ",
      h("span", { class: "muted" }, link.type),
      !link.certain && h("span", { class: "badge", title: t("dump.uncertain_why") }, t("dump.uncertain")),
    );
  };
  return h(
    "section",
    null,
    h("h3", null, t(`dump.${side}`)),
    h("ul", { class: "dump-links" }, items.map(item)),
  );
}

/**
 * Create the list of an operator's arguments by name.
 * @param {Page} page
 * @param {[string, string][]} pairs
 */
export function argumentList(page, pairs) {
  const list = pairs.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]);
  return h(
    "details",
    null,
    h("summary", null, page.app.t("dump.arguments", { n: pairs.length })),
    h("dl", { class: "facts" }, list),
  );
}
