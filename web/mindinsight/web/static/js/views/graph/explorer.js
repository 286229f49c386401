// The drawing of one graph with what belongs to it: search, outline, the panel of the selected node, a dump.

import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { createCanvas } from "./canvas.js";
import { Dumped } from "./dump_overlay.js";
import { createFinder } from "./finder.js";
import { graphLayout } from "./layout.js";
import { graphError, pictureNotes } from "./messages.js";
import { readState, writeState } from "./single_state.js";
import { Outline } from "./outline.js";
import { nodeFacts, outerFacts, panelElement } from "./panel.js";
import { descendants } from "./scopes.js";

/** @typedef {import("../../core/types.js").App} App */

export class Explorer {
  /** @param {App} app @param {HTMLElement} root of the page */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.tools = h("div", { class: "toolbar" });
    /** @type {any} */
    this.picture = null;
    /** @type {"up" | "down" | null} */
    this.traced = null;
    /** False while another graph is on its way: clicks are dead. */
    this.ready = false;
    this.drawing = latest(root);
    /** What somebody points at; what the panel says of it. */
    this.pointing = latest(root);
    this.telling = latest(root);
    /** Fill the panel once more with what it is about. @type {() => Promise<any>} */
    this.retell = async () => undefined;
    this.state = readState(app.url);
    /** Whether somebody chose what is open. */
    this.opened = this.state.open !== null;
    this.facts = panelElement(app);
    this.notes = h("div", { class: "row wrap small muted graph-notes", role: "status" });
    const { goTo, outer, toggle } = this.actions();
    const ask = this.ask.bind(this);
    this.canvas = createCanvas(app, {
      select: (id, reveal) => this.act(() => this.select(id, reveal)),
      outer,
      toggle,
      key: (key) => this.key(key),
    });
    this.finder = createFinder(app, { ask, goTo, outer });
    this.outline = new Outline(app, { ask, goTo, failed: (error) => this.failed(error) });
    this.dumped = new Dumped(app, {
      canvas: this.canvas,
      ask,
      goTo: (id) => this.goTo(id),
      outer: (node) => this.outer(node),
      again: () => this.ready && this.retell(),
    });
  }

  /** The address has changed. */
  restart() {
    this.state = readState(this.app.url);
    this.opened = this.state.open !== null;
    this.finder.reread();
    this.dumped.restart();
  }

  /**
   * Request something of the graph that is shown.
   * @param {string} path
   * @param {Record<string, any>} params
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  ask(path, params, signal) {
    const { run, tag, view } = this.state;
    return this.app.api.get(path, { run, tag: view === "dataset" ? null : tag, view, ...params }, { signal });
  }

  write() {
    writeState(this.app.url, this.state, this.opened);
  }

  /** Show the graph the state names. @param {any[]} controls of the page */
  async load(controls) {
    replace(this.tools, controls);
    this.ready = true;
    if (!this.canvas.element.isConnected) replace(this.root, graphLayout(this.app, this));
    this.canvas.wait(true);
    if (await this.draw()) await this.arrive();
  }

  /** Everything beside the drawing, and then what the address says is selected. */
  arrive() {
    const run = this.state.view === "dataset" ? null : (this.app.selection.run(this.state.run) ?? null);
    const fillPanels = () => Promise.all([this.finder.reset(), this.outline.reset(), this.dumped.offer(run)]);
    return this.pointing.ask(
      () => fillPanels().then(() => this.dumped.arrive()),
      async (arrived) => {
        if (arrived) return undefined;
        const { node, outer, trace } = this.state;
        if (outer !== null) return this.outer(outer);
        await this.select(node, node !== null);
        return trace === "up" || trace === "down" ? this.trace(trace) : undefined;
      },
      (error) => this.failed(error),
    );
  }

  /** Draw what is open now. @param {number} [keep] the node that stays where it is */
  draw(keep) {
    return this.drawing.ask(
      (signal) => this.ask("v2/graph/picture", { open: this.state.open?.join(",") }, signal),
      (picture) => {
        this.picture = picture;
        this.state.open = picture.open;
        this.write();
        this.traced = null;
        this.canvas.wait(false);
        this.canvas.show(picture, { keep });
        this.canvas.select(this.state.node);
        this.dumped.paint();
        replace(this.notes, pictureNotes(this.app, picture));
        return true;
      },
      (error) => this.failed(error),
    );
  }

  /** @param {any} error */
  failed(error) {
    this.canvas.wait(false);
    replace(this.canvas.element.isConnected ? this.facts : this.root, graphError(this.app, error));
    return false;
  }

  /** Nothing of the graph that is shown is wanted any more. */
  leave() {
    this.ready = false;
    [this.drawing, this.pointing, this.telling].forEach((requests) => requests.end());
    this.dumped.end();
  }

  /**
   * Open or close a scope; a scope alone in one that is opened opens too.
   * @param {number} id
   * @returns {Promise<void>}
   */
  async toggle(id) {
    const box = this.canvas.boxes().find((candidate) => candidate.id === id);
    if (!box?.count) return undefined;
    const open = new Set(this.state.open);
    if (box.open) descendants(this.canvas.boxes(), id).forEach((scope) => open.delete(scope));
    else open.add(id);
    return this.reopen(open, id, id, () => {
      if (box.open || box.count > 1) return this.select(id, true);
      const only = this.canvas.boxes().find((candidate) => candidate.parent === id);
      return only?.count ? this.toggle(only.id) : this.select(id, true);
    });
  }

  /**
   * Draw with other scopes open, then go on, unless something else was pointed at meanwhile.
   * @param {Set<number>} open
   * @param {number} node to be selected
   * @param {number} keep the node that stays where it is
   * @param {() => any} callback
   */
  reopen(open, node, keep, callback) {
    Object.assign(this.state, { open: [...open].sort((a, b) => a - b), node });
    this.opened = true;
    return this.pointing.ask(
      () => this.draw(keep),
      (isNewest) => (isNewest ? callback() : undefined),
    );
  }

  /**
   * Show a node wherever it is: the scopes around it are opened.
   * @param {number} id
   * @returns {Promise<void>}
   */
  goTo(id) {
    return this.pointing.ask(
      (signal) => this.ask("v2/graph/node", { node: id }, signal),
      ({ around }) => {
        const open = new Set(this.state.open);
        const scopes = /** @type {number[]} */ (around.map((/** @type {any} */ scope) => scope.id));
        const missing = scopes.filter((scope) => !open.has(scope));
        const select = () => this.select(id, true);
        return missing.length
          ? this.reopen(new Set([...open, ...missing]), id, missing[0], select)
          : select();
      },
      (error) => this.failed(error),
    );
  }

  /** @param {number | null} id @param {boolean} [reveal] */
  select(id, reveal = false) {
    Object.assign(this.state, { node: id, outer: null, trace: null });
    this.write();
    this.traced = null;
    this.canvas.light(null);
    this.canvas.select(id, reveal);
    return this.about();
  }

  /**
   * Fill the panel with what is selected.
   * @param {string} [text] what a trace found
   * @returns {Promise<void>}
   */
  async about(text) {
    const { node } = this.state;
    this.retell = () => this.about(text);
    if (node === null) {
      this.telling.end();
      replace(this.facts, h("p", { class: "muted" }, this.app.t("graph.pick")));
      return undefined;
    }
    return this.telling.ask(
      (signal) => this.ask("v2/graph/node", { node }, signal),
      (about) => {
        this.outline.select(node, about.around);
        const facts = { ...about, opened: this.state.open?.includes(node), traced: text };
        const dumped = this.dumped.about(node, "node");
        replace(this.facts, nodeFacts(this.app, facts, this.traced, this.actions(), dumped));
      },
      (error) => this.failed(error),
    );
  }

  /** All about a parameter or constant; its users are lit. @param {number} node @returns {Promise<any>} */
  outer(node) {
    this.retell = () => this.outer(node);
    return this.telling.ask(
      (signal) => this.ask("v2/graph/outer", { node }, signal),
      (about) => {
        Object.assign(this.state, { node: null, outer: node, trace: null });
        this.write();
        this.canvas.select(null);
        this.canvas.light(new Set(about.users.shown.map((/** @type {any} */ user) => user.id)));
        replace(this.facts, outerFacts(this.app, about, this.actions(), this.dumped.about(node, "outer")));
      },
      (error) => this.failed(error),
    );
  }

  /**
   * Light what the selected node depends on (up), or what depends on it.
   * @param {"up" | "down" | null} direction
   */
  trace(direction) {
    const { node } = this.state;
    this.traced = node === null ? null : direction;
    this.state.trace = this.traced;
    this.write();
    if (!this.traced) {
      this.canvas.light(null);
      return this.about();
    }
    const ids = this.canvas.boxes().map((box) => box.id);
    return this.telling.ask(
      (signal) => this.ask("v2/graph/trace", { node, direction, shown: ids.join(",") }, signal),
      ({ boxes, operators }) => {
        this.canvas.light(new Set(boxes));
        return this.about(this.app.t(`graph.traced.${direction}`, { n: operators }));
      },
      (error) => this.failed(error),
    );
  }

  actions() {
    return {
      goTo: (/** @type {number} */ id) => this.act(() => this.goTo(id)),
      outer: (/** @type {number} */ node) => this.act(() => this.outer(node)),
      toggle: (/** @type {number} */ id) => this.act(() => this.toggle(id)),
      trace: (/** @type {"up" | "down" | null} */ direction) => this.act(() => this.trace(direction)),
    };
  }

  /** Do what a click is for; what an earlier one began is over. @param {() => any} action */
  act(action) {
    if (!this.ready) return;
    this.pointing.end();
    action();
  }

  /** @param {string} key */
  key(key) {
    const { trace } = this.actions();
    if (key === "/") this.finder.focus();
    else if (key === "u") trace(this.traced === "up" ? null : "up");
    else if (key === "d") trace(this.traced === "down" ? null : "down");
    else return false;
    return true;
  }
}
