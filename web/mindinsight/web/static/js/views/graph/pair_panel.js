// Details panel of the comparison: a pair of nodes, its traces, and parameters of either graph.

import { h, replace } from "../../core/dom.js";
import { pairFacts } from "./pair.js";
import { tracePair } from "./pair_trace.js";
import { outerFacts, panelElement } from "./panel.js";

/** @typedef {import("../../core/answers.js").NodePair} NodePair */
/** @typedef {import("../../core/types.js").Parameters} Parameters */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {0 | 1} Side */
/** @typedef {"up" | "down" | null} Direction */
/**
 * @typedef {Object} Page
 * @property {import("../../components/graph/canvas.js").Canvas[]} canvases
 * @property {ReturnType<import("../../core/latest.js").latest>} pointing questions of which the last counts
 * @property {(side: Side) => Record<string, string | null>} named what tells the server a graph
 * @property {(side: Side, id: number) => void} find show a node of one graph, and its partner
 * @property {(error: Failure) => unknown} failed
 */

/** Panel beside two graphs, with the details of the selected pair. */
export class PairPanel {
  /** @param {App} app @param {Page} page */
  constructor(app, page) {
    this.app = app;
    this.page = page;
    /** What v2/graph/compare/node answered; null when nothing is selected. @type {NodePair | null} */
    this.pair = null;
    /** @type {Direction} what of the pair is lit */
    this.traced = null;
    this.element = panelElement(app);
  }

  /**
   * Show a pair, with the result of a trace if `text` is given.
   * @param {NodePair | null} pair
   * @param {Direction} [direction] of what is lit
   * @param {string} [text] what that is
   */
  show(pair, direction = null, text) {
    const { app, page } = this;
    Object.assign(this, { pair, traced: direction });
    if (!direction) page.canvases.forEach((canvas) => canvas.light(null));
    const traced = { direction, text, trace: (/** @type {Direction} */ next) => this.trace(next) };
    replace(
      this.element,
      pair
        ? pairFacts(app, pair, this.links(pair), traced)
        : h("p", { class: "muted" }, app.t("graph.pair.pick")),
    );
  }

  /** Return links to each node on the page of one graph. @param {NodePair} pair */
  links(pair) {
    const link = (/** @type {Side} */ side, /** @type {"left" | "right"} */ name) => {
      const { view, ...graph } = this.page.named(side);
      return this.app.url.link("graph", {
        ...graph,
        view: view === "recorded" ? null : view,
        open: pair.around[name].join(","),
        node: pair[name] && String(pair[name].id),
      });
    };
    return { left: link(0, "left"), right: link(1, "right") };
  }

  /** Trace in a direction, or end the trace if it is shown already. @param {"up" | "down"} direction */
  turn(direction) {
    return this.trace(this.traced === direction ? null : direction);
  }

  /**
   * Highlight in both graphs what the pair depends on (up) or what depends on it (down).
   * @param {Direction} direction
   */
  trace(direction) {
    const { app, page, pair } = this;
    if (!pair || !direction) return this.show(pair);
    return page.pointing.ask(
      (signal) => tracePair(app, [page.named(0), page.named(1)], page.canvases, pair, direction, signal),
      ({ lit, text }) => {
        page.canvases.forEach((canvas, side) => canvas.light(lit[side]));
        this.show(pair, direction, text);
      },
      page.failed,
    );
  }

  /**
   * Show a parameter or constant of one graph, and highlight its users.
   * @param {Side} side
   * @param {number} node
   */
  outer(side, node) {
    const { app, page } = this;
    const actions = {
      goTo: (/** @type {number} */ id) => page.find(side, id),
      outer() {},
      toggle() {},
      trace() {},
    };
    return page.pointing.ask(
      (signal) => app.api.get("v2/graph/outer", { ...page.named(side), node }, { signal }),
      (about) => {
        page.canvases.forEach((canvas) => canvas.select(null));
        this.show(null);
        page.canvases[side].light(new Set(about.users.shown.map((user) => user.id)));
        replace(this.element, outerFacts(app, about, actions));
      },
      page.failed,
    );
  }
}
