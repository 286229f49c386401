// One graph: scopes that open and close, search, facts of a node, what it depends on.

import { segments } from "../../components/button.js";
import { empty } from "../../components/empty.js";
import { viewPath } from "../../components/icons.js";
import { toast } from "../../components/toast.js";
import { grownRuns } from "../../core/changes.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { lookAgain, rewritten } from "./again.js";
import { createCanvas } from "./canvas.js";
import { chooser } from "./chooser.js";
import { Dumped } from "./dumped.js";
import { createFinder } from "./finder.js";
import { createOutline } from "./outline.js";
import { nodeFacts, outerFacts } from "./panel.js";
import { descendants } from "./scopes.js";
import { drawingTools } from "./tools.js";

/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} State
 * @property {string} run
 * @property {string} tag
 * @property {string} view
 * @property {number[] | null} open
 * @property {number | null} node
 * @property {number | null} outer a parameter or constant
 * @property {string | null} trace "up" or "down" from the node
 */

const VIEWS = ["recorded", "simplified", "dataset"];

export class OneGraph {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   * @param {() => HTMLElement} modes control for one graph or two
   */
  constructor(root, app, modes) {
    this.app = app;
    this.root = root;
    this.modes = modes;
    /** @type {State} */
    this.state = this.read();
    /** @type {"up" | "down" | null} */
    this.traced = null;
    /** @type {any} */
    this.picture = null;
    /** @type {import("./again.js").Graphs} */
    this.graphs = { tags: [], dataset: false, newest: {} };
    this.asking = new AbortController();
    /** Which graphs a run has: the one that was chosen, and whether there are more by now. */
    this.opening = latest(root);
    this.following = latest(root);
    /** Pictures asked for, and times that something was pointed at: only the last of each is shown. */
    this.drawings = 0;
    this.pointed = 0;
    /** @type {import("../../core/types.js").Run[]} */
    this.runs = [];
    /** Fill the panel once more with what it is about. @type {() => Promise<any>} */
    this.retell = async () => undefined;
    this.tools = h("div", { class: "toolbar" });
    this.facts = h("div", {
      class: "graph-about scroll",
      role: "region",
      "aria-label": app.t("graph.about"),
      tabindex: "0",
    });
    this.notes = h("div", { class: "row wrap small muted graph-notes", role: "status" });
    const { goTo, outer, toggle } = this.does();
    this.canvas = createCanvas(app, {
      select: (id, reveal) => this.tried(() => this.select(id, reveal)),
      outer,
      toggle,
      key: (key) => this.key(key),
    });
    this.finder = createFinder(app, { ask: (path, params) => this.ask(path, params), goTo, outer });
    this.outline = createOutline(app, {
      ask: (path, params) => this.ask(path, params),
      goTo,
      tried: (what) => this.tried(what),
    });
    this.dumped = new Dumped(app, {
      canvas: this.canvas,
      ask: (path, params) => this.ask(path, params),
      goTo: (id) => this.goTo(id),
      outer: (node) => this.outer(node),
      again: () => this.tried(() => this.retell()),
    });
    this.side = h(
      "aside",
      { class: "graph-side", "aria-label": app.t("graph.panel") },
      this.finder.element,
      this.outline.element,
      this.facts,
    );
    this.offSelection = app.selection.on(() => this.listed());
  }

  /** @returns {State} */
  read() {
    const { url } = this.app;
    const view = url.get("view", "recorded");
    const open = url.get("open");
    const node = url.get("node");
    return {
      run: url.get("run", ""),
      tag: url.get("tag", ""),
      view: VIEWS.includes(view) ? view : "recorded",
      open: open === null ? null : open.split(",").filter(Boolean).map(Number),
      node: node === null ? null : Number(node),
      outer: url.get("outer") === null ? null : Number(url.get("outer")),
      trace: url.get("trace"),
    };
  }

  write() {
    const { run, tag, view, open, node, outer, trace } = this.state;
    this.app.url.set({
      run,
      tag,
      view: view === "recorded" ? null : view,
      open: open && this.opened ? open.join(",") || "0" : null,
      node,
      outer,
      trace,
    });
  }

  async start() {
    this.runs = this.app.selection.all().filter((run) => run.kinds.graph || run.lineage);
    const chosen = this.state.run ? this.runs.find((run) => run.id === this.state.run) : this.firstRun();
    if (!chosen) return this.nothing();
    this.state.run = chosen.id;
    return this.open();
  }

  /** Show the graph that was chosen, once it is known which there are. */
  open() {
    this.following.end();
    this.asking.abort();
    const opened = this.opening.ask(
      (signal) => this.graphsOf(signal),
      (graphs) => {
        this.settle(graphs);
        return this.load();
      },
    );
    return opened.catch((error) => this.failed(error));
  }

  /** @param {AbortSignal} signal */
  graphsOf(signal) {
    return this.app.api.get("v2/graph/graphs", { run: this.state.run }, { signal });
  }

  restart() {
    this.state = this.read();
    this.finder.reread();
    this.dumped.restart();
    return this.start();
  }

  firstRun() {
    const { runs } = this;
    const selected = runs.filter((run) => this.app.selection.has(run.id));
    return [...selected, ...runs].find((run) => run.kinds.graph) ?? runs[0];
  }

  /** The list of runs is new: the run may have come, or gone. */
  listed() {
    if (this.picture && this.app.selection.run(this.state.run)) return;
    this.start();
  }

  /** What may change while runs are being read: then it is tried again. */
  nothing() {
    const { t } = this.app;
    this.asking.abort();
    this.picture = null;
    const { run } = this.state;
    if (run) {
      replace(
        this.root,
        empty({
          icon: viewPath(this.app, "graph"),
          title: t("graph.none.here", { run }),
          text: t("graph.none.wait"),
        }),
      );
      return;
    }
    replace(
      this.root,
      empty({
        icon: viewPath(this.app, "graph"),
        title: t("graph.none"),
        text: t("graph.none.how"),
        code: 'record.add_value("graph", "model", network)',
      }),
    );
  }

  /**
   * The state is brought in line with what graphs the run has.
   * @param {import("./again.js").Graphs} graphs
   */
  settle(graphs) {
    const { state } = this;
    this.graphs = graphs;
    if (!this.graphs.tags.includes(state.tag)) state.tag = this.graphs.tags[0] ?? "";
    if (!state.tag) state.view = "dataset";
    else if (state.view === "dataset" && !this.graphs.dataset) state.view = "recorded";
  }

  /** @param {Partial<State>} some */
  change(some) {
    Object.assign(this.state, some, { open: null, node: null, outer: null, trace: null });
    this.opened = false;
    return this.open();
  }

  /**
   * Ask about the graph that is shown. The question is dropped, and never answered, when another graph is
   * shown meanwhile.
   * @param {string} path
   * @param {Record<string, any>} params
   * @returns {Promise<any>}
   */
  ask(path, params) {
    const { run, tag, view } = this.state;
    const answer = this.app.api.get(
      path,
      { run, tag: view === "dataset" ? null : tag, view, ...params },
      { signal: this.asking.signal },
    );
    return answer.catch((error) => {
      if (this.app.api.aborted(error)) return new Promise(() => {});
      throw error;
    });
  }

  async load() {
    this.opened ??= this.state.open !== null;
    replace(this.tools, this.controls());
    this.asking = new AbortController();
    if (!this.canvas.element.isConnected) {
      replace(
        this.root,
        h(
          "div",
          { class: "graph" },
          h("h1", { class: "unseen" }, this.app.t("nav.graph")),
          this.tools,
          this.dumped.tools,
          h("div", { class: "row wrap graph-lines" }, this.notes, this.dumped.told),
          h("div", { class: "graph-body" }, this.canvas.element, this.side),
        ),
      );
    }
    this.canvas.wait(true);
    const drawn = await this.draw({});
    this.canvas.wait(false);
    if (!drawn) return;
    const run = this.state.view === "dataset" ? null : (this.app.selection.run(this.state.run) ?? null);
    await Promise.all([this.finder.reset(), this.outline.reset(), this.dumped.offer(run)]);
    if (await this.dumped.arrive()) return;
    const { node, outer, trace } = this.state;
    if (outer !== null) return this.outer(outer);
    await this.select(node, node !== null);
    if (trace === "up" || trace === "down") await this.trace(trace);
  }

  /** Draw what is open now. @param {{keep?: number}} how */
  async draw(how) {
    const { state } = this;
    const mine = ++this.drawings;
    try {
      const picture = await this.ask("v2/graph/picture", { open: state.open?.join(",") });
      if (mine !== this.drawings) return false; // another scope was opened or closed meanwhile
      this.picture = picture;
    } catch (error) {
      return mine === this.drawings && this.failed(error);
    }
    state.open = this.picture.open;
    this.write();
    this.traced = null;
    this.canvas.show(this.picture, how);
    this.canvas.select(state.node);
    this.dumped.paint();
    this.note();
    return true;
  }

  /** @param {any} error */
  failed(error) {
    const { t } = this.app;
    replace(
      this.canvas.element.isConnected ? this.facts : this.root,
      empty({ icon: "warning", title: t("graph.failed"), text: t(error.key ?? "error.http", error.vars) }),
    );
    return false;
  }

  /** How much there is, and what the file did not hold. */
  note() {
    const { t } = this.app;
    const { picture } = this;
    const counts = ["operators", "parameters", "constants"].map((name) =>
      t(`graph.count.${name}`, { n: picture[name] }),
    );
    const lost = ["nameless", "dangling", "unreadable"]
      .filter((name) => picture[name])
      .map((name) =>
        h(
          "span",
          { class: "badge warn", title: t(`graph.lost.${name}.why`) },
          t(`graph.lost.${name}`, { n: picture[name] }),
        ),
      );
    replace(this.notes, h("span", null, counts.join(" · ")), lost);
  }

  controls() {
    const { t } = this.app;
    const { state } = this;
    const views = VIEWS.filter((view) =>
      view === "dataset" ? this.graphs.dataset : this.graphs.tags.length,
    );
    return [
      this.modes(),
      chooser(this.app, this.runs, state, this.graphs, (some) => this.change(some)),
      segments({
        label: t("graph.view"),
        value: state.view,
        options: views.map((value) => ({ value, label: t(`graph.view.${value}`) })),
        onchange: (view) => this.change({ view }),
      }),
      h("span", { class: "grow" }),
      drawingTools(this.app, this.root, {
        drawings: () => [this.downloadable()],
        reset: () => this.change({}),
      }),
    ];
  }

  /** @returns {import("./downloads.js").Drawn} what can be downloaded */
  downloadable() {
    const { canvas, state } = this;
    const figure = () =>
      this.ask("v2/graph/figure", {
        open: state.open?.join(","),
        theme: document.documentElement.dataset.theme,
      });
    return { name: `${state.view === "dataset" ? "dataset" : state.tag}-${state.view}`, canvas, figure };
  }

  /** @param {string} key */
  key(key) {
    const { trace } = this.does();
    if (key === "/") this.finder.focus();
    else if (key === "u") trace(this.traced === "up" ? null : "up");
    else if (key === "d") trace(this.traced === "down" ? null : "down");
    else return false;
    return true;
  }

  /**
   * Open or close a scope; a scope alone in one that is opened opens too.
   * @param {number} id
   * @returns {Promise<void>}
   */
  async toggle(id) {
    const box = this.canvas.boxes().find((one) => one.id === id);
    if (!box?.count) return;
    const open = new Set(this.state.open);
    if (box.open) descendants(this.canvas.boxes(), id).forEach((one) => open.delete(one));
    else open.add(id);
    this.state.open = [...open].sort((a, b) => a - b);
    this.opened = true;
    this.state.node = id;
    if (!(await this.draw({ keep: id }))) return;
    const only = box.open || box.count > 1 ? null : this.canvas.boxes().find((one) => one.parent === id);
    if (only?.count) await this.toggle(only.id);
    else await this.select(id, true);
  }

  /** Show a node wherever it is: the scopes around it are opened. @param {number} id */
  async goTo(id) {
    const about = await this.ask("v2/graph/node", { node: id });
    const open = new Set(this.state.open);
    const missing = about.around.filter((/** @type {any} */ one) => !open.has(one.id));
    if (missing.length) {
      this.state.open = [...open, ...missing.map((/** @type {any} */ one) => one.id)].sort((a, b) => a - b);
      this.opened = true;
      this.state.node = id;
      if (!(await this.draw({ keep: missing[0].id }))) return;
    }
    await this.select(id, true);
  }

  /** @param {number | null} id @param {boolean} [reveal] */
  async select(id, reveal = false) {
    Object.assign(this.state, { node: id, outer: null, trace: null });
    this.write();
    this.traced = null;
    this.canvas.light(null);
    this.canvas.select(id, reveal);
    await this.about();
  }

  /** Fill the panel with what is selected. @param {string} [text] what a trace found */
  async about(text) {
    const { t } = this.app;
    const { node } = this.state;
    const mine = ++this.pointed;
    this.retell = () => this.about(text);
    if (node === null) {
      replace(this.facts, h("p", { class: "muted" }, t("graph.pick")));
      return;
    }
    const about = await this.ask("v2/graph/node", { node });
    if (mine !== this.pointed) return;
    const opened = this.state.open?.includes(node);
    this.tried(() => this.outline.select(node, about.around));
    replace(
      this.facts,
      nodeFacts(
        this.app,
        { ...about, opened, traced: text },
        this.traced,
        this.does(),
        this.dumped.about(node, "node"),
      ),
    );
  }

  /** All about a parameter or constant; its users are lit. @param {number} node */
  async outer(node) {
    const mine = ++this.pointed;
    this.retell = () => this.outer(node);
    const about = await this.ask("v2/graph/outer", { node });
    if (mine !== this.pointed) return;
    Object.assign(this.state, { node: null, outer: node, trace: null });
    this.write();
    this.canvas.select(null);
    this.canvas.light(new Set(about.users.shown.map((/** @type {any} */ one) => one.id)));
    replace(this.facts, outerFacts(this.app, about, this.does(), this.dumped.about(node, "outer")));
  }

  does() {
    return {
      goTo: (/** @type {number} */ id) => this.tried(() => this.goTo(id)),
      outer: (/** @type {number} */ node) => this.tried(() => this.outer(node)),
      toggle: (/** @type {number} */ id) => this.tried(() => this.toggle(id)),
      trace: (/** @type {"up" | "down" | null} */ direction) => this.tried(() => this.trace(direction)),
    };
  }

  /**
   * What a click begins may fail: the run may be gone. While another graph is on its way this one is dead.
   * @param {() => Promise<any>} what
   */
  tried(what) {
    if (!this.asking.signal.aborted) what().catch((error) => this.failed(error));
  }

  /**
   * Light what the selected node depends on (up), or what depends on it.
   * @param {"up" | "down" | null} direction
   */
  async trace(direction) {
    const { node } = this.state;
    this.traced = node === null ? null : direction;
    this.state.trace = this.traced;
    this.write();
    if (!this.traced) {
      this.canvas.light(null);
      return this.about();
    }
    const mine = ++this.pointed;
    const shown = this.canvas
      .boxes()
      .map((box) => box.id)
      .join(",");
    const found = await this.ask("v2/graph/trace", { node, direction, shown });
    if (mine !== this.pointed) return;
    this.canvas.light(new Set(found.boxes));
    return this.about(this.app.t(`graph.traced.${direction}`, { n: found.operators }));
  }

  /** @param {import("../../core/types.js").Change} change */
  changed(change) {
    const { run } = this.state;
    if (this.picture && (change.list || grownRuns(this.app, change, "dump").length)) this.dumped.refresh();
    if (!this.picture || !grownRuns(this.app, change, "graph", "lineage").includes(run)) return;
    this.following.ask(
      (signal) => this.graphsOf(signal),
      (graphs) => {
        if (JSON.stringify(this.graphs) === JSON.stringify(graphs)) return;
        const { tag, view } = this.state;
        const stale = view !== "dataset" && rewritten(this.graphs, graphs, tag);
        this.settle(graphs);
        renew(this.tools, this.controls());
        if (stale) {
          renew(
            this.notes,
            lookAgain(this.app, () => this.change({})),
          );
        } else toast(this.app.t("graph.more"));
      },
      leaveAsIs,
    );
  }

  end() {
    this.opening.end();
    this.following.end();
    this.dumped.end();
    this.offSelection();
    this.asking.abort();
  }
}
