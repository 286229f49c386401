// Details panel of the page of one graph: the selected node, parameter or line, and traces.

import { drawnText } from "./scopes.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { holding } from "../../components/graph/index_ranges.js";
import { flowFacts, nodeFacts, outerFacts, panelElement } from "./panel.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("./explorer.js").Explorer} Explorer */

/** Details panel of the page of one graph. */
export class Describer {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.app = explorer.app;
    this.element = panelElement(explorer.app);
    /** @type {"up" | "down" | null} */
    this.traced = null;
    this.requests = latest(this.element);
    /** Fill the panel once more with what it is about. @type {() => Promise<unknown>} */
    this.again = async () => undefined;
    /** How to find what is selected in another graph. @type {{path?: string, name?: string} | null} */
    this.subject = null;
  }

  /** Drop requests in flight, because another graph is being loaded. */
  end() {
    this.requests.end();
    this.again = async () => undefined;
  }

  /**
   * Show the selected node, with the result of a trace if `text` is given.
   * @param {string} [text] what a trace found
   * @returns {Promise<unknown>}
   */
  async node(text) {
    const { explorer } = this;
    const { node, attribute, open, flat } = explorer.state;
    this.again = () => this.node(text);
    if (node === null) {
      this.requests.end();
      this.subject = null;
      replace(this.element, h("p", { class: "muted" }, this.app.t("graph.pick")));
      return undefined;
    }
    return this.requests.ask(
      (signal) => explorer.ask("v2/graph/node", { node }, signal),
      (about) => {
        this.subject = { path: about.path };
        explorer.outline.select(node, about.around);
        const bookmark = explorer.bookmarks.button(about.path);
        const drawn = { opened: open?.includes(node), flat: node !== null && flat.includes(node) };
        const facts = { ...about, ...drawn, bookmark, traced: text, shown: attribute };
        const dumped = explorer.dumped.about(node, "node");
        replace(this.element, nodeFacts(this.app, facts, this.traced, explorer.actions(), dumped));
      },
      (error) => this.#failed(error),
    );
  }

  /**
   * Show a parameter or constant, and highlight the boxes that use it.
   * @param {number} node
   * @returns {Promise<unknown>}
   */
  outer(node) {
    const { explorer } = this;
    const { canvas, state } = explorer;
    this.again = () => this.outer(node);
    return this.requests.ask(
      (signal) => explorer.ask("v2/graph/outer", { node }, signal),
      (about) => {
        this.subject = { name: about.label };
        Object.assign(state, { node: null, outer: node, trace: null });
        explorer.write();
        canvas.select(null);
        const users = holding(canvas.boxes(), about.hits);
        canvas.mark({ outer: node, line: null });
        canvas.light(new Set(users.map((box) => box.id)));
        canvas.gather(users.filter((box) => !box.open));
        explorer.side.show("details");
        const dumped = explorer.dumped.about(node, "outer");
        replace(this.element, outerFacts(this.app, about, explorer.actions(), dumped));
      },
      (error) => this.#failed(error),
    );
  }

  /** Show what flows along a line. @param {import("../../components/graph/shapes.js").Line} line */
  flow(line) {
    const { explorer } = this;
    const { source, target } = line;
    this.again = () => this.flow(line);
    return this.requests.ask(
      (signal) => explorer.ask("v2/graph/flow", { source, target }, signal),
      (about) => {
        explorer.canvas.mark({ line });
        explorer.side.show("details");
        replace(this.element, flowFacts(this.app, about, explorer.actions()));
      },
      (error) => explorer.failed(error),
    );
  }

  /**
   * Highlight what the selected node depends on (up) or what depends on it (down); null ends it.
   * @param {"up" | "down" | null} direction
   */
  trace(direction) {
    const { explorer } = this;
    const { canvas, state } = explorer;
    const { node } = state;
    this.traced = node === null ? null : direction;
    state.trace = this.traced;
    explorer.write();
    if (!this.traced) {
      canvas.light(null);
      return this.node();
    }
    return this.requests.ask(
      (signal) =>
        explorer.ask("v2/graph/trace", { node, direction, shown: drawnText(canvas.boxes()) }, signal),
      ({ boxes, operators }) => {
        canvas.light(new Set(boxes));
        return this.node(this.app.t(`graph.traced.${direction}`, { n: operators }));
      },
      (error) => explorer.failed(error),
    );
  }

  /**
   * Show an error. A node that an old link names but the graph does not have is deselected.
   * @param {Failure} error
   */
  #failed(error) {
    if (error.key !== "error.unknown_node") return this.explorer.failed(error);
    Object.assign(this.explorer.state, { node: null, outer: null, trace: null });
    this.explorer.write();
    this.explorer.canvas.select(null);
    return this.node();
  }
}
