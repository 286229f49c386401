// Drawing of one graph with search, outline, details panel and dump overlay.

import { COPY } from "../../core/copy.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { Bookmarks } from "./bookmarks.js";
import { createCanvas } from "../../components/graph/canvas.js";
import { Describer } from "./describer.js";
import { Dumped } from "./dump_overlay.js";
import { createFinder } from "./finder.js";
import { graphLayout, graphTabs } from "./layout.js";
import { graphError, pictureNotes } from "./messages.js";
import { readState, scopesText, writeState } from "./single_state.js";
import { ModelCard } from "./model_card.js";
import { NodeData } from "./node_data.js";
import { Outline } from "./outline.js";
import { flatten, toggleScope, unflatten } from "./scopes.js";
import { PlotlyView } from "./plotly_view.js";

/** @typedef {import("../../core/answers.js").NodeFacts} NodeFacts */
/** @typedef {import("../../core/answers.js").OuterFacts} OuterFacts */
/** @typedef {import("../../core/dom.js").Child} Child */
/** @typedef {import("../../core/types.js").Parameters} Parameters */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */

/** Page of one graph: its drawing, connected with the panels and the address. */
export class Explorer {
  /** @param {App} app @param {HTMLElement} root of the page */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.tools = h("div", { class: "row wrap graph-top" });
    /** @type {unknown} */
    this.picture = null;
    /** False while another graph is on its way: clicks are dead. */
    this.ready = false;
    this.drawing = latest(root);
    /** What somebody points at. */
    this.pointing = latest(root);
    /** What was selected in the graph before this one. @type {{path?: string, name?: string} | null} */
    this.wanted = null;
    this.state = readState(app.url);
    /** Whether somebody chose what is open. */
    this.opened = this.state.scopes !== null;
    this.describer = new Describer(this);
    this.notes = h("div", { class: "row wrap small muted graph-notes", role: "status" });
    const { goTo, outer, toggle } = this.actions();
    /** Request data about the shown graph. */
    const ask = this.ask.bind(this);
    this.canvas = createCanvas(app, {
      select: (id, reveal) => this.act(() => this.pick(id, reveal)),
      flow: (line) => this.act(() => this.describer.flow(line)),
      outer,
      toggle,
      key: (key) => this.key(key),
    });
    /** Show an error. Return false. */
    const failed = (/** @type {Failure} */ error) => this.failed(error);
    this.finder = createFinder(app, { ask, goTo, outer, mark: (hits) => this.canvas.mark({ hits }) });
    this.outline = new Outline(app, { ask, goTo, failed });
    this.card = new ModelCard(app, {
      ask,
      goTo,
      failed,
      run: () => (this.state.view === "dataset" ? this.state.run : null),
      painted: () => this.dumped.paint(),
    });
    this.bookmarks = new Bookmarks(app, (path) => this.act(() => this.find({ path })));
    this.side = graphTabs(app, this);
    this.plotted = new PlotlyView(app, { ask, select: (id) => this.act(() => this.pick(id)), failed });
    this.canvas.element.append(this.plotted.element);
    this.dumped = new Dumped(app, {
      canvas: this.canvas,
      ask,
      goTo: (id) => this.goTo(id),
      outer: (node) => this.describer.outer(node),
      again: () => this.ready && this.describer.again(),
      marks: (box) => this.card.marks(box) ?? this.data.marks(box),
    });
    this.data = new NodeData(app, {
      state: () => this.state,
      paint: () => this.dumped.paint(),
    });
  }

  /** Read the state from the address after it changed. */
  restart() {
    this.state = readState(this.app.url);
    this.opened = this.state.scopes !== null;
    this.finder.reread();
    this.bookmarks.draw();
    this.dumped.restart();
  }

  /**
   * Request something of the graph that is shown.
   * @template {string} P
   * @param {P} path
   * @param {Parameters} params
   * @param {AbortSignal} [signal]
   * @returns {Promise<import("../../core/answers.js").Answer<P>>}
   */
  ask(path, params, signal) {
    const { run, tag, view } = this.state;
    return this.app.api.get(path, { run, tag: view === "dataset" ? null : tag, view, ...params }, { signal });
  }

  /** Write the state to the address. */
  write() {
    writeState(this.app.url, this.state, this.opened);
  }

  /** Load the graph that the state names. @param {() => Child[]} controls of the page */
  async load(controls) {
    replace(this.tools, controls());
    this.ready = true;
    if (!this.canvas.element.isConnected) replace(this.root, graphLayout(this.app, this));
    this.canvas.wait(true);
    const { view } = this.state;
    if (!(await this.draw())) return;
    if (view !== this.state.view) renew(this.tools, controls());
    await this.arrive();
  }

  /** Fill the panels, then select what the address names. */
  arrive() {
    const run = this.state.view === "dataset" ? null : (this.app.selection.run(this.state.run) ?? null);
    const parts = [this.finder, this.outline, this.card, this.data];
    const fillPanels = () => Promise.all([...parts.map((part) => part.reset()), this.dumped.offer(run)]);
    return this.pointing.ask(
      () => fillPanels().then(() => this.dumped.arrive()),
      async (arrived) => {
        if (arrived) return undefined;
        const { node, outer, sought, trace } = this.state;
        if (sought) return this.seek(sought);
        if (this.wanted) return this.find(this.wanted);
        if (outer !== null) return this.describer.outer(outer);
        await this.select(node, node !== null);
        return trace === "up" || trace === "down" ? this.describer.trace(trace) : undefined;
      },
      (error) => this.failed(error),
    );
  }

  /**
   * Request and show the drawing with the current open scopes. Return whether it was drawn.
   * @param {number} [keep] the node that stays where it is
   */
  draw(keep) {
    return this.drawing.ask(
      (signal) => {
        const { scopes, flat, attribute, view } = this.state;
        const scoped = { view: view ?? "auto", open: scopes, flat: flat.join(",") || null };
        const params = { ...scoped, attribute: attribute || null };
        return this.ask("v2/graph/picture", params, signal);
      },
      (picture) => {
        this.picture = picture;
        Object.assign(this.state, { open: picture.open, flat: picture.flat, view: picture.view });
        this.write();
        this.describer.traced = null;
        this.canvas.wait(false);
        this.canvas.show(picture, { keep });
        this.canvas.select(this.state.node);
        this.plotted.show(this.state);
        this.dumped.paint();
        replace(this.notes, pictureNotes(this.app, picture));
        return true;
      },
      (error) => this.failed(error),
    );
  }

  /** @param {Failure} error */
  failed(error) {
    this.canvas.wait(false);
    replace(
      this.canvas.element.isConnected ? this.describer.element : this.root,
      graphError(this.app, error),
    );
    this.side.show("details");
    return false;
  }

  /** Drop everything in flight for the shown graph. */
  leave() {
    this.ready = false;
    [this.drawing, this.pointing, this.describer, this.plotted].forEach((requests) => requests.end());
    this.dumped.end();
  }

  /**
   * Draw with other scopes open, then call back unless the user has moved on.
   * @param {Set<number>} open
   * @param {number} node to be selected
   * @param {number} keep the node that stays where it is
   * @param {() => unknown} callback
   */
  reopen(open, node, keep, callback) {
    // also before the drawing is there: what is opened meanwhile adds to it
    Object.assign(this.state, { scopes: scopesText(open, this.canvas.boxes()), open: [...open], node });
    this.opened = true;
    return this.pointing.ask(
      () => this.draw(keep),
      (isNewest) => (isNewest ? callback() : undefined),
    );
  }

  /** Select a node and open the scopes around it. @param {number} id @returns {Promise<unknown>} */
  goTo(id) {
    return this.pointing.ask(
      (signal) => this.ask("v2/graph/node", { node: id }, signal),
      ({ around, count }) => {
        const scopes = around.map((scope) => scope.id);
        const layered = count > 0 && unflatten(this.state, scopes);
        const open = new Set(this.state.open);
        const missing = scopes.filter((scope) => !open.has(scope));
        /** Select a node; null clears the selection. */
        const select = () => this.select(id, true);
        return missing.length || layered
          ? this.reopen(new Set(COPY ? scopes : [...open, ...missing]), id, missing[0] ?? id, select)
          : select();
      },
      (error) => this.failed(error),
    );
  }

  /** Select the node with a path, or show that there is none. @param {string} path */
  async seek(path) {
    this.state.sought = "";
    try {
      return this.goTo((await this.ask("v2/graph/node", { node: path })).id);
    } catch (error) {
      await this.select(null);
      return this.failed(/** @type {Failure} */ (error));
    }
  }

  /**
   * Select what was selected in another graph, by its path or name.
   * @param {{path?: string, name?: string}} subject
   */
  find({ path, name }) {
    this.wanted = null;
    return this.pointing.ask(
      (signal) =>
        /** @type {Promise<NodeFacts | OuterFacts>} */ (
          path
            ? this.ask("v2/graph/node", { node: path, nearest: true }, signal)
            : this.ask("v2/graph/outer", { name }, signal)
        ),
      (about) => ("id" in about ? this.goTo(about.id) : this.describer.outer(about.node)),
      () => this.select(null),
    );
  }

  /** Select a box and show its details. @param {number | null} id @param {boolean} [reveal] */
  pick(id, reveal) {
    if (id !== null) this.side.show("details");
    return this.select(id, reveal);
  }

  /** @param {number | null} id @param {boolean} [reveal] */
  select(id, reveal = false) {
    Object.assign(this.state, { node: id, outer: null, trace: null });
    this.write();
    this.describer.traced = null;
    if (id !== null && this.side.current === "model") this.side.show("details");
    this.canvas.mark({ outer: null, line: null });
    this.canvas.light(null);
    this.canvas.select(id, reveal);
    return this.describer.node();
  }

  /** Show an attribute on all operators; "" shows their outputs again. @param {string} attribute */
  async show(attribute) {
    this.state.attribute = attribute;
    if (await this.draw(this.state.node ?? undefined)) await this.describer.again();
  }

  /** Switch between Plotly's drawing and the page's own. @param {boolean} plotly */
  plot(plotly) {
    this.state.plotly = plotly;
    this.write();
    this.plotted.show(this.state);
  }

  /** Return the actions that panels can trigger. */
  actions() {
    return {
      goTo: (/** @type {number} */ id) => this.act(() => this.goTo(id)),
      outer: (/** @type {number} */ node) => this.act(() => this.describer.outer(node)),
      toggle: (/** @type {number} */ id) => this.act(() => toggleScope(this, id)),
      flatten: (/** @type {number} */ id) => this.act(() => flatten(this, id)),
      trace: (/** @type {"up" | "down" | null} */ direction) =>
        this.act(() => this.describer.trace(direction)),
      show: (/** @type {string} */ attribute) => this.act(() => this.show(attribute)),
    };
  }

  /**
   * Run a user's action, unless a graph is being loaded. An earlier action is dropped.
   * @param {() => unknown} action
   */
  act(action) {
    if (!this.ready) return;
    this.pointing.end();
    action();
  }

  /** Handle a key. Return whether it had an effect. @param {string} key */
  key(key) {
    const { trace } = this.actions();
    const { traced } = this.describer;
    if (key === "/") this.finder.focus();
    else if (key === "u") trace(traced === "up" ? null : "up");
    else if (key === "d") trace(traced === "down" ? null : "down");
    else return false;
    return true;
  }
}
