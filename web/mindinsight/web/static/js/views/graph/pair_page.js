// Comparison of two graphs side by side. A scope opened in one is opened in the other, and differences are
// marked in both.

import { toast } from "../../components/toast.js";
import { grownRuns } from "../../core/changes.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { idsOf } from "../../core/run_list.js";
import { lookAgain } from "./staleness.js";
import { badgeOf } from "../../components/graph/badges.js";
import { createCanvas } from "../../components/graph/canvas.js";
import { firstRun } from "./chooser.js";
import { createDifferences } from "./differences.js";
import { graphError, noGraph } from "./messages.js";
import { PairBar } from "./pair_bar.js";
import { createPairFinder } from "./pair_finder.js";
import { pairCounts, pairLayout } from "./pair_layout.js";
import { PairPanel } from "./pair_panel.js";
import { innermost, NAMES, Pair, SIDES, standIn } from "./pair_requests.js";
import { descendants } from "./scopes.js";
import { readState, writeState } from "./pair_state.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {0 | 1} Side left and right */
/** @typedef {import("../../components/graph/badges.js").Differing & {count: number}} Compared a box */

const LEGIBLE = 0.7; // scale at which a difference is shown, at least
const MOST = 500; // differences in the list
const ABOVE = 16; // px that stay empty above the drawings

/** Page of two graphs. */
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
    this.pair = new Pair(app.api, this.state);
    this.shown = false;
    /** What is open in both drawings. */
    this.places = { open: /** @type {number[]} */ ([]), open2: /** @type {number[]} */ ([]) };
    this.opening = latest(root);
    this.following = latest(root);
    this.drawing = latest(root);
    this.pointing = latest(root);
    this.counts = h("div", { class: "row wrap small muted graph-notes", role: "status" });
    this.canvases = SIDES.map((side) => createCanvas(app, this.actions(side), NAMES[side]));
    this.bar = new PairBar(this);
    const find = (/** @type {Side} */ side, /** @type {number} */ id) =>
      this.goTo(side === 0 ? { left: { id } } : { right: { id } });
    this.differences = createDifferences(app, (difference) => this.goTo(difference));
    this.finder = createPairFinder(app, {
      ask: (side, path, params, signal) =>
        app.api.get(path, { ...this.pair.named(side), ...params }, { signal }),
      goTo: find,
      outer: (side, node) => this.panel.outer(side, node),
      mark: (side, hits) =>
        this.canvases.forEach((canvas, i) => canvas.mark({ hits: i === side ? hits : [] })),
    });
    this.panel = new PairPanel(app, {
      canvases: this.canvases,
      pointing: this.pointing,
      named: (side) => this.pair.named(side),
      find,
      failed: (error) => this.failed(error),
    });
    this.offSelection = app.selection.on(() => this.listed());
  }

  /** Return the actions of one side's drawing. @param {Side} side */
  actions(side) {
    return {
      select: (/** @type {number | null} */ id, reveal = false) => this.select(side, id, reveal),
      outer: (/** @type {number} */ node) => this.panel.outer(side, node),
      toggle: (/** @type {number} */ id) => this.toggle(side, id),
      key: (/** @type {string} */ key) => this.key(key),
    };
  }

  /** Show what the address names after it changed. */
  restart() {
    this.state = this.pair.state = readState(this.app.url);
    this.finder.reread();
    return this.start();
  }

  /** Return the runs to choose from. */
  offered() {
    return this.app.selection.all().filter((run) => run.kinds.graph || run.pipeline);
  }

  /** Offer other runs after the list has changed, and start once there are any. */
  listed() {
    if (!this.shown) return void this.start();
    const runs = this.offered();
    if (idsOf(runs) === idsOf(this.runs)) return;
    this.runs = runs;
    this.bar.choose();
  }

  /** Choose default graphs where the address names none, then load both. */
  start() {
    this.following.end();
    this.runs = this.offered();
    const [left, right] = this.state.sides;
    left.run ||= firstRun(this.app, this.runs, this.state.view)?.id ?? "";
    const missing = [left, right].find((side) => side.run && !this.runs.some((run) => run.id === side.run));
    if (!left.run || missing) {
      this.shown = false;
      return void replace(this.root, noGraph(this.app, missing?.run));
    }
    return this.opening.ask(
      (signal) => this.pair.settle(this.runs, signal),
      () => this.load(),
      (error) => this.failed(error),
    );
  }

  /** Show another pair of graphs in its initial state. @param {() => void} change */
  change(change) {
    change();
    Object.assign(this.state, { open: null, open2: [], node: null, node2: null });
    this.start();
  }

  /** Request the differences and drawings and show them. */
  load() {
    this.shown = true;
    this.bar.draw();
    if (!this.canvases[0].element.isConnected) replace(this.root, pairLayout(this.app, this));
    this.canvases.forEach((canvas) => canvas.wait(true));
    /** Return the open scopes: those of the left graph, and those of the right graph without a partner. */
    const opened = this.state.open !== null;
    const { node, node2 } = this.state;
    return this.drawing.ask(
      async (signal) => [
        await this.pair.ask("differences", { limit: MOST }, signal),
        await this.pair.pictures(signal),
      ],
      ([differences, pictures]) => {
        replace(this.counts, pairCounts(this.app, differences));
        this.differences.show(differences);
        this.finder.reset().catch((error) => this.failed(error));
        this.show(pictures, opened, []);
        const [first] = differences.shown;
        const asked = opened || node !== null || node2 !== null;
        if (first && !asked) return this.begin(first);
        return this.select(node === null ? 1 : 0, node ?? node2, true); // before anybody can select another
      },
      (error) => this.failed(error),
    );
  }

  /**
   * Show both drawings. A node in `keep` stays at its place on its side.
   * @param {import("../../core/answers.js").Answer<"v2/graph/compare/pictures">} pictures
   * @param {boolean} opened whether somebody chose what is open
   * @param {(number | undefined)[]} keep the place of each side that stays where it is
   */
  show(pictures, opened, keep) {
    this.places = { open: pictures.open, open2: pictures.other_open };
    Object.assign(this.state, opened ? this.places : { open: null, open2: [] });
    writeState(this.app.url, this.state);
    SIDES.forEach((side) => {
      const picture = pictures[NAMES[side]];
      for (const box of picture.boxes) {
        box.badge = badgeOf(/** @type {Compared} */ (box), NAMES[side], this.app.t);
      }
      this.canvases[side].wait(false);
      this.canvases[side].show(picture, { keep: keep[side] });
    });
  }

  /**
   * Draw with other scopes open, then call back unless the user has moved on.
   * @param {Set<number>[]} open
   * @param {(number | undefined)[]} keep the node of each side that stays where it is
   * @param {() => unknown} callback
   */
  reopen(open, keep, callback) {
    [this.state.open, this.state.open2] = open.map((scopes) => [...scopes].sort((a, b) => a - b));
    const draw = () =>
      this.drawing.ask(
        (signal) => this.pair.pictures(signal),
        (pictures) => {
          this.show(pictures, true, keep);
          return true;
        },
        (error) => this.failed(error),
      );
    return this.pointing.ask(draw, (isNewest) => (isNewest ? callback() : undefined));
  }

  /** The scopes that are open: of the left graph, and of the right one those without a partner. */
  opened() {
    return [new Set(this.places.open), new Set(this.places.open2)];
  }

  /** Open or close a scope and its partner. @param {Side} side @param {number} id */
  toggle(side, id) {
    const box = this.canvases[side].boxes().find((candidate) => candidate.id === id);
    if (!box?.count) return;
    const partners = side === 0 ? [id, box.partner] : [box.partner, id];
    const open = this.opened();
    for (const end of SIDES) {
      const scope = partners[end];
      if (scope === null || scope === undefined) continue;
      const inside = box.open ? descendants(this.canvases[end].boxes(), scope) : [];
      inside.forEach((nested) => open[end].delete(nested));
      if (!box.open) open[end].add(scope);
    }
    const keep = partners.map((partner) => partner ?? 0);
    this.reopen(open, keep, () => this.select(side, id, true));
  }

  /**
   * Select a node and its partner, and show how they differ.
   * @param {Side} side
   * @param {number | null} id
   * @param {boolean} [reveal]
   */
  select(side, id, reveal = false) {
    const opposite = /** @type {Side} */ (1 - side);
    Object.assign(this.state, { node: side === 0 ? id : null, node2: side === 1 ? id : null });
    writeState(this.app.url, this.state);
    this.canvases[side].select(id, reveal);
    if (id === null) this.canvases[opposite].select(null);
    return this.pointing.ask(
      (signal) => (id === null ? Promise.resolve(null) : this.pair.node(side, id, signal)),
      (pair) => {
        const partner = pair && innermost(this.canvases[opposite], pair, NAMES[opposite]);
        const stand = pair && partner === null ? standIn(this.canvases, pair, side) : null;
        if (pair) this.meet(opposite, partner, this.canvases[side].scale());
        if (stand) this.canvases[opposite].centre(stand.id, this.canvases[side].scale(), stand.point);
        this.differences.select(pair?.left?.id, pair?.right?.id);
        this.panel.show(pair);
      },
      (error) => this.failed(error),
    );
  }

  /**
   * Select a node and centre it.
   * @param {Side} side
   * @param {number | null} id selected and in the middle
   * @param {number} k scale
   */
  meet(side, id, k) {
    this.canvases[side].select(id);
    this.canvases[side].centre(id, k);
  }

  /**
   * Centre a difference that both drawings show, and select it.
   * @param {{left?: {id: number} | null, right?: {id: number} | null}} difference
   */
  begin({ left, right }) {
    const side = left ? 0 : 1;
    const { id } = /** @type {{id: number}} */ (left ?? right);
    this.meet(side, id, Math.max(LEGIBLE, this.canvases[side].scale()));
    return this.select(side, id).then(() => this.raise());
  }

  /** Move both drawings up by as much as is empty above both, so that they stay beside each other. */
  raise() {
    const empty = Math.min(...this.canvases.map(({ camera }) => camera.transform().y)) - ABOVE;
    if (empty <= 0) return;
    for (const { camera } of this.canvases) camera.set({ y: camera.transform().y - empty });
  }

  /**
   * Select a difference and open the scopes around it on both sides.
   * @param {{left?: {id: number} | null, right?: {id: number} | null}} difference
   */
  goTo({ left, right }) {
    const side = left ? 0 : 1;
    const { id } = /** @type {{id: number}} */ (left ?? right);
    return this.pointing.ask(
      (signal) => this.pair.node(side, id, signal),
      ({ around }) => {
        const open = this.opened();
        SIDES.forEach((end) =>
          around[NAMES[end]].forEach((/** @type {number} */ scope) => open[end].add(scope)),
        );
        const keep = NAMES.map((name) => around[name][0] ?? 0);
        return this.reopen(open, keep, () => this.begin({ left, right }));
      },
      (error) => this.failed(error),
    );
  }

  /** Handle a key. Return whether it had an effect. @param {string} key */
  key(key) {
    if (key === "n") this.differences.step(1);
    else if (key === "p") this.differences.step(-1);
    else if (key === "/") this.finder.focus();
    else if (key === "u") this.panel.turn("up");
    else if (key === "d") this.panel.turn("down");
    else return false;
    return true;
  }

  /** Show an error. @param {Failure} error */
  failed(error) {
    this.canvases.forEach((canvas) => canvas.wait(false));
    const element = this.panel.element.isConnected ? this.panel.element : this.root;
    replace(element, graphError(this.app, error));
  }

  /**
   * Refresh after runs have grown. The shown graphs stay; if one was written again, offer to reload.
   * @param {import("../../core/types.js").Change} change
   */
  changed(change) {
    const grown = grownRuns(this.app, change, "graph", "lineage");
    if (!this.shown || !this.state.sides.some((side) => grown.includes(side.run))) return;
    this.following.ask(
      (signal) => Promise.all(this.state.sides.map((side) => this.pair.graphsOf(side.run, signal))),
      (graphs) => {
        if (JSON.stringify(this.pair.graphs) === JSON.stringify(graphs)) return;
        const stale = this.pair.stale(graphs);
        this.pair.graphs = graphs;
        this.bar.choose();
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

  /** Leave the page. */
  end() {
    [this.opening, this.following, this.drawing, this.pointing].forEach((asking) => asking.end());
    this.offSelection();
  }
}
