// Two graphs side by side: what opens in one opens in the other, and what differs is marked in both.

import { segments } from "../../components/button.js";
import { empty } from "../../components/empty.js";
import { viewPath } from "../../components/icons.js";
import { toast } from "../../components/toast.js";
import { grownRuns } from "../../core/changes.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { lookAgain, rewritten } from "./again.js";
import { badgeOf, SIGNS } from "./badges.js";
import { createCanvas } from "./canvas.js";
import { chooser } from "./chooser.js";
import { counterpart } from "./counterpart.js";
import { createDifferences } from "./differences.js";
import { createPairFinder } from "./pair_finder.js";
import { PairPanel } from "./pair_panel.js";
import { descendants } from "./scopes.js";
import { drawingTools } from "./tools.js";
import { readState, VIEWS, writeState } from "./two_state.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {0 | 1} Side left and right */
/** @typedef {import("./again.js").Graphs} Graphs */
/** @typedef {import("./two_state.js").Chosen} Chosen */

const SIDES = /** @type {Side[]} */ ([0, 1]);
const NAMES = /** @type {const} */ (["left", "right"]);
const LEGIBLE = 0.7; // scale at which a difference is shown, at least
const SHOWN = 500; // differences in the list

export class TwoGraphs {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   * @param {() => HTMLElement} modes control for one graph or two
   */
  constructor(root, app, modes) {
    this.app = app;
    this.root = root;
    this.modes = modes;
    this.state = readState(app.url);
    /** @type {Run[]} */
    this.runs = [];
    /** @type {Graphs[]} */
    this.graphs = [];
    this.shown = false;
    /**
     * Counted up with everything somebody points at: what a drawing was made for may be over when it is
     * there.
     */
    this.turn = 0;
    /** What is open in both drawings. */
    this.places = { open: /** @type {number[]} */ ([]), open2: /** @type {number[]} */ ([]) };
    this.opening = latest(root);
    this.following = latest(root);
    this.drawing = latest(root);
    this.pointing = latest(root);
    this.tools = h("div", { class: "toolbar" });
    this.counts = h("div", { class: "row wrap small muted graph-notes", role: "status" });
    this.choosers = SIDES.map(() => h("div", { class: "toolbar" }));
    this.canvases = SIDES.map((side) => createCanvas(app, this.does(side), NAMES[side]));
    this.differences = createDifferences(app, (one) => this.goTo(one));
    this.finder = createPairFinder(app, {
      ask: (side, path, params) => app.api.get(path, { ...this.named(side), ...params }),
      goTo: (side, id) => this.find(side, id),
      outer: (side, node) => this.panel.outer(side, node),
    });
    this.panel = new PairPanel(app, {
      canvases: this.canvases,
      pointing: this.pointing,
      named: (side) => this.named(side),
      find: (side, id) => this.find(side, id),
      failed: (error) => this.failed(error),
    });
    this.offSelection = app.selection.on(() => this.shown || this.start());
  }

  /** @param {Side} side */
  does(side) {
    return {
      select: (/** @type {number | null} */ id, reveal = false) => this.select(side, id, reveal),
      outer: (/** @type {number} */ node) => this.panel.outer(side, node),
      toggle: (/** @type {number} */ id) => this.toggle(side, id),
      key: (/** @type {string} */ key) => this.key(key),
    };
  }

  restart() {
    this.state = readState(this.app.url);
    this.finder.reread();
    return this.start();
  }

  start() {
    const { selection } = this.app;
    this.following.end();
    this.runs = selection.all().filter((run) => run.kinds.graph || run.lineage);
    const [left, right] = this.state.sides;
    left.run ||=
      (
        this.runs.find((run) => selection.has(run.id) && run.kinds.graph) ??
        this.runs.find((run) => run.kinds.graph) ??
        this.runs[0]
      )?.id ?? "";
    const missing = [left, right].find((side) => side.run && !this.runs.some((run) => run.id === side.run));
    if (!left.run || missing) return this.nothing(missing?.run);
    return this.opening.ask(
      (signal) => this.settle(signal),
      () => this.load(),
      (error) => this.failed(error),
    );
  }

  /** @param {string} [run] that is asked for and not there */
  nothing(run) {
    const { t } = this.app;
    this.shown = false;
    const text = run
      ? { title: t("graph.none.here", { run }), text: t("graph.none.wait") }
      : { title: t("graph.none"), text: t("graph.none.how") };
    replace(this.root, empty({ icon: viewPath(this.app, "graph"), ...text }));
  }

  /** Which graphs both runs have, and which of them are shown. @param {AbortSignal} signal */
  async settle(signal) {
    const { state } = this;
    const [left, right] = state.sides;
    const first = await this.graphsOf(left.run, signal);
    if (!first.tags.includes(left.tag)) left.tag = first.tags[0] ?? "";
    if (!right.run) Object.assign(right, counterpart(this.runs, left, first.tags));
    const second = right.run === left.run ? first : await this.graphsOf(right.run, signal);
    if (!second.tags.includes(right.tag)) right.tag = second.tags[0] ?? "";
    this.graphs = [first, second];
    if (!this.views().includes(state.view)) state.view = this.views()[0] ?? "recorded";
  }

  /** @param {string} run @param {AbortSignal} signal @returns {Promise<Graphs>} */
  graphsOf(run, signal) {
    return this.app.api.get("v2/graph/graphs", { run }, { signal });
  }

  /** What both runs have. */
  views() {
    return VIEWS.filter((view) =>
      this.graphs.every((one) => (view === "dataset" ? one.dataset : one.tags.length)),
    );
  }

  /** Another pair of graphs. @param {() => void} some */
  change(some) {
    some();
    Object.assign(this.state, { open: null, open2: [], node: null, node2: null });
    this.start();
  }

  /** What tells the server one of the graphs. @param {Side} side */
  named(side) {
    const { sides, view } = this.state;
    return { run: sides[side].run, tag: view === "dataset" ? null : sides[side].tag, view };
  }

  /** @param {string} path @param {Record<string, any>} params @param {AbortSignal} signal */
  ask(path, params, signal) {
    const other = this.named(1);
    return this.app.api.get(
      `v2/graph/compare/${path}`,
      { ...this.named(0), other_run: other.run, other_tag: other.tag, ...params },
      { signal },
    );
  }

  load() {
    this.frame();
    this.canvases.forEach((canvas) => canvas.wait(true));
    const opened = this.state.open !== null;
    const { node, node2 } = this.state;
    return this.drawing.ask(
      async (signal) => [
        await this.ask("differences", { limit: SHOWN }, signal),
        await this.pictures(signal),
      ],
      ([differences, pictures]) => {
        this.count(differences);
        this.differences.show(differences);
        this.finder.reset().catch((error) => this.failed(error));
        this.show(pictures, opened, []);
        return this.select(node === null ? 1 : 0, node ?? node2, true); // before anybody can select another
      },
      (error) => this.failed(error),
    );
  }

  /** The page around both drawings. */
  frame() {
    const { app, canvases, choosers, state } = this;
    const { t } = app;
    this.shown = true;
    const views = this.views().map((value) => ({ value, label: t(`graph.view.${value}`) }));
    replace(
      this.tools,
      this.modes(),
      segments({
        label: t("graph.view"),
        value: state.view,
        options: views,
        onchange: (view) => this.change(() => (state.view = view)),
      }),
      h("span", { class: "grow" }),
      drawingTools(app, this.root, {
        drawings: () => SIDES.map((side) => this.downloadable(side)),
        reset: () => this.change(() => undefined),
      }),
    );
    this.choose();
    if (canvases[0].element.isConnected) return;
    const sides = SIDES.map((side) =>
      h(
        "section",
        { class: "graph-half", "aria-label": t(`graph.${NAMES[side]}`) },
        choosers[side],
        canvases[side].element,
      ),
    );
    const aside = h(
      "aside",
      { class: "graph-side", "aria-label": t("graph.panel.compare") },
      this.finder.element,
      this.differences.element,
      this.panel.element,
    );
    replace(
      this.root,
      h(
        "div",
        { class: "graph" },
        h("h1", { class: "unseen" }, t("graph.mode.compare")),
        this.tools,
        this.counts,
        h("div", { class: "graph-body two" }, sides, aside),
      ),
    );
  }

  /** Which run and graph stand on each side. */
  choose() {
    const { app, choosers, state } = this;
    SIDES.forEach((side) =>
      renew(
        choosers[side],
        chooser(app, this.runs, { ...state.sides[side], view: state.view }, this.graphs[side], (some) =>
          this.change(() => Object.assign(state.sides[side], some)),
        ),
      ),
    );
  }

  /** @param {Side} side @returns {import("./downloads.js").Drawn} what can be downloaded */
  downloadable(side) {
    const { sides, view } = this.state;
    const name = `${view === "dataset" ? "dataset" : sides[side].tag}-${view}-${NAMES[side]}`;
    return { title: this.app.t(`graph.${NAMES[side]}`), name, canvas: this.canvases[side] };
  }

  /** @param {AbortSignal} signal */
  pictures(signal) {
    const { open, open2 } = this.state;
    return this.ask("pictures", { open: open?.join(","), other_open: open2.join(",") || null }, signal);
  }

  /**
   * @param {any} found what v2/graph/compare/pictures answers
   * @param {boolean} opened whether somebody chose what is open
   * @param {(number | undefined)[]} keep the place of each side that stays where it is
   */
  show(found, opened, keep) {
    this.places = { open: found.open, open2: found.other_open };
    Object.assign(this.state, opened ? this.places : { open: null, open2: [] });
    writeState(this.app.url, this.state);
    SIDES.forEach((side) => {
      const picture = found[NAMES[side]];
      for (const box of picture.boxes) box.badge = badgeOf(box, NAMES[side], this.app.t);
      this.canvases[side].wait(false);
      this.canvases[side].show(picture, { keep: keep[side] });
    });
  }

  /** How much is the same, and what the signs mean. @param {import("./differences.js").Found} found */
  count(found) {
    const { t } = this.app;
    const part = (/** @type {keyof typeof SIGNS} */ kind) =>
      h(
        "span",
        null,
        h(
          "span",
          { class: `graph-sign ${kind === "changed" ? kind : "only"}`, "aria-hidden": "true" },
          SIGNS[kind],
        ),
        ` ${t(`graph.within.${kind}`, { n: found[kind] })}`,
      );
    replace(
      this.counts,
      h("span", null, t("graph.count.same", { n: found.same })),
      part("changed"),
      part("left"),
      part("right"),
    );
  }

  /**
   * Open what is asked for, and go on when it is drawn, unless something else was pointed at.
   * @param {Set<number>[]} open
   * @param {(number | undefined)[]} keep
   * @param {() => any} then
   */
  draw(open, keep, then) {
    [this.state.open, this.state.open2] = open.map((side) => [...side].sort((a, b) => a - b));
    const { turn } = this;
    return this.drawing.ask(
      (signal) => this.pictures(signal),
      (found) => {
        this.show(found, true, keep);
        return turn === this.turn ? then() : undefined;
      },
      (error) => this.failed(error),
    );
  }

  /** The places that are open: of the left graph, and of the right one those without a partner. */
  opened() {
    return [new Set(this.places.open), new Set(this.places.open2)];
  }

  /** Open or close a scope and its partner. @param {Side} side @param {number} id */
  toggle(side, id) {
    const box = /** @type {any} */ (this.canvases[side].boxes().find((one) => one.id === id));
    if (!box?.count) return;
    this.turn++;
    const places = side === 0 ? [id, box.partner] : [box.partner, id];
    const open = this.opened();
    SIDES.forEach((one) => {
      if (places[one] === null) return;
      if (box.open) {
        descendants(this.canvases[one].boxes(), places[one]).forEach((place) => open[one].delete(place));
      } else open[one].add(places[one]);
    });
    this.draw(
      open,
      places.map((place) => place ?? 0),
      () => this.select(side, id, true),
    );
  }

  /**
   * Select a node and its partner, and say in what they differ.
   * @param {Side} side
   * @param {number | null} id
   * @param {boolean} [reveal]
   */
  select(side, id, reveal = false) {
    const other = /** @type {Side} */ (1 - side);
    this.turn++;
    Object.assign(this.state, { node: side === 0 ? id : null, node2: side === 1 ? id : null });
    writeState(this.app.url, this.state);
    this.canvases[side].select(id, reveal);
    if (id === null) this.canvases[other].select(null);
    return this.pointing.ask(
      (signal) =>
        id === null
          ? Promise.resolve(null)
          : this.ask("node", side === 0 ? { node: id } : { other_node: id }, signal),
      (pair) => {
        if (pair) this.meet(other, this.drawn(other, pair), this.canvases[side].scale());
        this.differences.select(pair?.left?.id, pair?.right?.id);
        this.panel.show(pair);
      },
      (error) => this.failed(error),
    );
  }

  /**
   * Select a node and bring it to the middle.
   * @param {Side} side
   * @param {number | null} id
   * @param {number} k scale
   */
  meet(side, id, k) {
    this.canvases[side].select(id);
    this.canvases[side].centre(id, k);
  }

  /**
   * The node of a pair, or the innermost scope around it that is drawn.
   * @param {Side} side
   * @param {any} pair
   * @returns {number | null}
   */
  drawn(side, pair) {
    const name = NAMES[side];
    if (!pair[name]) return null;
    const boxes = new Set(this.canvases[side].boxes().map((box) => box.id));
    return [...pair.around[name], pair[name].id].reverse().find((id) => boxes.has(id)) ?? null;
  }

  /** Show a node of one graph, and its partner. @param {Side} side @param {number} id */
  find(side, id) {
    this.goTo(side === 0 ? { left: { id } } : { right: { id } });
  }

  /**
   * Show a difference wherever it is: the scopes around it are opened on both sides.
   * @param {{left?: {id: number} | null, right?: {id: number} | null}} one
   */
  goTo(one) {
    const side = one.left ? 0 : 1;
    const { id } = /** @type {{id: number}} */ (one.left ?? one.right);
    this.turn++;
    this.pointing.ask(
      (signal) => this.ask("node", side === 0 ? { node: id } : { other_node: id }, signal),
      (pair) => {
        const open = this.opened();
        SIDES.forEach((at) =>
          pair.around[NAMES[at]].forEach((/** @type {number} */ place) => open[at].add(place)),
        );
        return this.draw(
          open,
          SIDES.map((at) => pair.around[NAMES[at]][0] ?? 0),
          () => {
            this.meet(side, id, Math.max(LEGIBLE, this.canvases[side].scale()));
            return this.select(side, id);
          },
        );
      },
      (error) => this.failed(error),
    );
  }

  /** @param {string} key */
  key(key) {
    if (key === "n") this.differences.step(1);
    else if (key === "p") this.differences.step(-1);
    else if (key === "/") this.finder.focus();
    else if (key === "u") this.panel.turn("up");
    else if (key === "d") this.panel.turn("down");
    else return false;
    return true;
  }

  /** @param {any} error */
  failed(error) {
    const { t } = this.app;
    this.canvases.forEach((canvas) => canvas.wait(false));
    replace(
      this.panel.element.isConnected ? this.panel.element : this.root,
      empty({ icon: "warning", title: t("graph.failed"), text: t(error.key ?? "error.http", error.vars) }),
    );
  }

  /**
   * What is compared stays as it is while runs grow; that there is more, or newer, is said.
   * @param {import("../../core/types.js").Change} change
   */
  changed(change) {
    const grown = grownRuns(this.app, change, "graph", "lineage");
    if (!this.shown || !this.state.sides.some((side) => grown.includes(side.run))) return;
    this.following.ask(
      (signal) => Promise.all(this.state.sides.map((side) => this.graphsOf(side.run, signal))),
      (graphs) => {
        if (JSON.stringify(this.graphs) === JSON.stringify(graphs)) return;
        const stale =
          this.state.view !== "dataset" &&
          SIDES.some((side) => rewritten(this.graphs[side], graphs[side], this.state.sides[side].tag));
        this.graphs = graphs;
        this.choose();
        if (stale) {
          renew(
            this.counts,
            lookAgain(this.app, () => this.change(() => undefined)),
          );
        } else toast(this.app.t("graph.more"));
      },
      leaveAsIs,
    );
  }

  end() {
    [this.opening, this.following, this.drawing, this.pointing].forEach((asking) => asking.end());
    this.offSelection();
  }
}
