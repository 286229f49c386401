// Search in one of two graphs. Results are shown in both.

import { segments } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { createFinder } from "./finder.js";

/** @typedef {import("../../core/types.js").Parameters} Parameters */

/** @typedef {0 | 1} Side */

const SIDES = ["left", "right"];

/**
 * @typedef {Object} Actions
 * @property {<P extends string>(side: Side, path: P, params: Parameters, signal?: AbortSignal) =>
 *   Promise<import("../../core/answers.js").Answer<P>>}
 *   ask
 * @property {(side: Side, id: number) => void} goTo
 * @property {(side: Side, node: number) => void} outer
 * @property {(side: Side, hits: number[]) => void} mark
 */

/**
 * Create the search in one of two graphs, with the choice of the graph.
 * @param {import("../../core/types.js").App} app
 * @param {Actions} actions
 */
export function createPairFinder(app, actions) {
  /** @type {Side} */
  let side = app.url.get("in") === "right" ? 1 : 0;
  const finder = createFinder(app, {
    ask: (path, params, signal) => actions.ask(side, path, params, signal),
    goTo: (id) => actions.goTo(side, id),
    outer: (node) => actions.outer(side, node),
    mark: (hits) => actions.mark(side, hits),
  });
  const sides = segments({
    label: app.t("graph.search.side"),
    options: SIDES.map((value) => ({ value, label: app.t(`graph.${value}`) })),
    value: SIDES[side],
    onchange: (value) => {
      side = value === "left" ? 0 : 1;
      app.url.set({ in: side ? "right" : null });
      finder.reset();
    },
  });
  return {
    element: h("div", { class: "stack" }, sides, finder.element),
    focus: () => finder.focus(),
    reset: () => finder.reset(),
    reread: () => finder.reread(),
  };
}
