// Two graphs side by side: what opens in one opens in the other, and what differs is marked in both.

import { segments } from "../../components/button.js";
import { empty } from "../../components/empty.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { badgeOf, SIGNS } from "./badges.js";
import { createCanvas } from "./canvas.js";
import { chooser } from "./chooser.js";
import { counterpart } from "./counterpart.js";
import { createDifferences } from "./differences.js";
import { pairFacts } from "./pair.js";
import { descendants } from "./scopes.js";
import { drawingTools } from "./tools.js";
import { readState, VIEWS, writeState } from "./two_state.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {0 | 1} Side left and right */
/** @typedef {{tags: string[], dataset: boolean}} Graphs */
/** @typedef {import("./two_state.js").Chosen} Chosen */

const SIDES = /** @type {Side[]} */ ([0, 1]);
const NAMES = /** @type {const} */ (["left", "right"]);
const LEGIBLE = 0.7; // scale at which a difference is shown, at least
const SHOWN = 500; // differences in the list

export class TwoGraphs {
  /** @param {HTMLElement} root @param {App} app @param {() => HTMLElement} modes control for one graph or two */
  constructor(root, app, modes) {
    const { t } = app;
    this.app = app;
    this.root = root;
    this.modes = modes;
    this.state = readState(app.url);
    /** @type {Run[]} */
    this.runs = [];
    /** @type {Graphs[]} */
    this.graphs = [];
    this.shown = false;
    /** Counted up with everything somebody points at: what a drawing was made for may be over when it is there. */
    this.turn = 0;
    /** What is open in both drawings. */
    this.places = { open: /** @type {number[]} */ ([]), open2: /** @type {number[]} */ ([]) };
    this.opening = latest(root);
    this.drawing = latest(root);
    this.pointing = latest(root);
    this.tools = h("div", { class: "toolbar" });
    this.counts = h("div", { class: "row wrap small muted graph-notes", role: "status" });
    this.choosers = SIDES.map(() => h("div", { class: "toolbar" }));
    this.canvases = SIDES.map((side) => createCanvas(app, this.does(side), NAMES[side]));
    this.differences = createDifferences(app, (one) => this.goTo(one));
    this.facts = h("div", { class: "graph-about scroll", role: "region", "aria-label": t("graph.about"), tabindex: "0" });
    this.offSelection = app.selection.on(() => this.shown || this.start());
  }

  /** @param {Side} side */
  does(side) {
    return {
      select: (/** @type {number | null} */ id, reveal = false) => this.select(side, id, reveal),
      outer: () => undefined,
      toggle: (/** @type {number} */ id) => this.toggle(side, id),
      key: (/** @type {string} */ key) => this.key(key),
    };
  }

  restart() {
    this.state = readState(this.app.url);
    return this.start();
  }

  start() {
    const { selection } = this.app;
    this.runs = selection.all().filter((run) => run.kinds.graph || run.lineage);
    const [left, right] = this.state.sides;
    left.run ||= (this.runs.find((run) => selection.has(run.id) && run.kinds.graph) ?? this.runs.find((run) => run.kinds.graph) ?? this.runs[0])?.id ?? "";
    const missing = [left, right].find((side) => side.run && !this.runs.some((run) => run.id === side.run));
    if (!left.run || missing) return this.nothing(missing?.run);
    return this.opening.ask((signal) => this.settle(signal), () => this.load(), (error) => this.failed(error));
  }

  /** @param {string} [run] that is asked for and not there */
  nothing(run) {
    const { t } = this.app;
    this.shown = false;
    const text = run ? { title: t("graph.none.here", { run }), text: t("graph.none.wait") } : { title: t("graph.none"), text: t("graph.none.how") };
    replace(this.root, empty({ icon: "kind-graph", ...text }));
  }

  /** Which graphs both runs have, and which of them are shown. @param {AbortSignal} signal */
  async settle(signal) {
    const { state } = this;
    const [left, right] = state.sides;
    const ask = (/** @type {string} */ run) => this.app.api.get("v2/graph/graphs", { run }, { signal });
    const first = await ask(left.run);
    if (!first.tags.includes(left.tag)) left.tag = first.tags[0] ?? "";
    if (!right.run) Object.assign(right, counterpart(this.runs, left, first.tags));
    const second = right.run === left.run ? first : await ask(right.run);
    if (!second.tags.includes(right.tag)) right.tag = second.tags[0] ?? "";
    this.graphs = [first, second];
    if (!this.views().includes(state.view)) state.view = this.views()[0] ?? "recorded";
  }

  /** What both runs have. */
  views() {
    return VIEWS.filter((view) => this.graphs.every((one) => (view === "dataset" ? one.dataset : one.tags.length)));
  }

  /** Another pair of graphs. @param {() => void} some */
  change(some) {
    some();
    Object.assign(this.state, { open: null, open2: [], node: null, node2: null });
    this.start();
  }

  /** What tells the server the pair. @param {Record<string, any>} params */
  pair(params) {
    const { sides: [left, right], view } = this.state;
    const tag = (/** @type {Chosen} */ side) => (view === "dataset" ? null : side.tag);
    return { run: left.run, tag: tag(left), other_run: right.run, other_tag: tag(right), view, ...params };
  }

  /** @param {string} path @param {Record<string, any>} params @param {AbortSignal} signal */
  ask(path, params, signal) {
    return this.app.api.get(`v2/graph/compare/${path}`, this.pair(params), { signal });
  }

  load() {
    this.frame();
    this.canvases.forEach((canvas) => canvas.wait(true));
    const opened = this.state.open !== null;
    const { node, node2 } = this.state;
    return this.drawing.ask(
      async (signal) => [await this.ask("differences", { limit: SHOWN }, signal), await this.pictures(signal)],
      ([differences, pictures]) => {
        this.count(differences);
        this.differences.show(differences);
        this.show(pictures, opened, []);
        return this.select(node === null ? 1 : 0, node ?? node2, true); // before anybody can select another
      },
      (error) => this.failed(error),
    );
  }

  /** The page around both drawings. */
  frame() {
    const { app, choosers, canvases, state } = this;
    const { t } = app;
    this.shown = true;
    const views = this.views().map((value) => ({ value, label: t(`graph.view.${value}`) }));
    replace(
      this.tools,
      this.modes(),
      segments({ label: t("graph.view"), value: state.view, options: views, onchange: (view) => this.change(() => (state.view = view)) }),
      h("span", { class: "grow" }),
      drawingTools(app, this.root, { drawings: () => SIDES.map((side) => this.downloadable(side)), reset: () => this.change(() => undefined) }),
    );
    SIDES.forEach((side) => replace(choosers[side], chooser(app, this.runs, { ...state.sides[side], view: state.view }, this.graphs[side], (some) => this.change(() => Object.assign(state.sides[side], some)))));
    if (canvases[0].element.isConnected) return;
    const sides = SIDES.map((side) => h("section", { class: "graph-half", "aria-label": t(`graph.${NAMES[side]}`) }, choosers[side], canvases[side].element));
    const aside = h("aside", { class: "graph-side", "aria-label": t("graph.panel.compare") }, this.differences.element, this.facts);
    replace(this.root, h("div", { class: "graph" }, h("h1", { class: "unseen" }, t("graph.mode.compare")), this.tools, this.counts, h("div", { class: "graph-body two" }, sides, aside)));
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
   * @param {any} found what v2/graph/compare/pictures answers @param {boolean} opened whether somebody chose what is open
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
    const part = (/** @type {keyof typeof SIGNS} */ kind) => h("span", null, h("span", { class: `graph-sign ${kind === "changed" ? kind : "only"}`, "aria-hidden": "true" }, SIGNS[kind]), ` ${t(`graph.within.${kind}`, { n: found[kind] })}`);
    replace(this.counts, h("span", null, t("graph.count.same", { n: found.same })), part("changed"), part("left"), part("right"));
  }

  /** Open what is asked for, and go on when it is drawn, unless something else was pointed at. @param {Set<number>[]} open @param {(number | undefined)[]} keep @param {() => any} then */
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
      if (box.open) descendants(this.canvases[one].boxes(), places[one]).forEach((place) => open[one].delete(place));
      else open[one].add(places[one]);
    });
    this.draw(open, places.map((place) => place ?? 0), () => this.select(side, id, true));
  }

  /** Select a node and its partner, and say in what they differ. @param {Side} side @param {number | null} id @param {boolean} [reveal] */
  select(side, id, reveal = false) {
    const other = /** @type {Side} */ (1 - side);
    this.turn++;
    Object.assign(this.state, { node: side === 0 ? id : null, node2: side === 1 ? id : null });
    writeState(this.app.url, this.state);
    this.canvases[side].select(id, reveal);
    if (id === null) this.canvases[other].select(null);
    return this.pointing.ask(
      (signal) => (id === null ? Promise.resolve(null) : this.ask("node", side === 0 ? { node: id } : { other_node: id }, signal)),
      (pair) => {
        if (pair) this.meet(other, this.drawn(other, pair), this.canvases[side].scale());
        this.differences.select(pair?.left?.id, pair?.right?.id);
        replace(this.facts, pair ? pairFacts(this.app, pair, this.links(pair)) : h("p", { class: "muted" }, this.app.t("graph.pair.pick")));
      },
      (error) => this.failed(error),
    );
  }

  /** Select a node and bring it to the middle. @param {Side} side @param {number | null} id @param {number} k scale */
  meet(side, id, k) {
    this.canvases[side].select(id);
    this.canvases[side].centre(id, k);
  }

  /** The node of a pair, or the innermost scope around it that is drawn. @param {Side} side @param {any} pair @returns {number | null} */
  drawn(side, pair) {
    const name = NAMES[side];
    if (!pair[name]) return null;
    const boxes = new Set(this.canvases[side].boxes().map((box) => box.id));
    return [...pair.around[name], pair[name].id].reverse().find((id) => boxes.has(id)) ?? null;
  }

  /** @param {any} pair */
  links(pair) {
    const { view } = this.state;
    const [left, right] = SIDES.map((side) => {
      const name = NAMES[side];
      return this.app.url.link("graph", { ...this.state.sides[side], view: view === "recorded" ? null : view, open: pair.around[name].join(","), node: pair[name] && String(pair[name].id) });
    });
    return { left, right };
  }

  /** Show a difference wherever it is: the scopes around it are opened on both sides. @param {import("./differences.js").Difference} one */
  goTo(one) {
    const side = one.left ? 0 : 1;
    const { id } = /** @type {{id: number}} */ (one.left ?? one.right);
    this.turn++;
    this.pointing.ask(
      (signal) => this.ask("node", side === 0 ? { node: id } : { other_node: id }, signal),
      (pair) => {
        const open = this.opened();
        SIDES.forEach((at) => pair.around[NAMES[at]].forEach((/** @type {number} */ place) => open[at].add(place)));
        return this.draw(open, SIDES.map((at) => pair.around[NAMES[at]][0] ?? 0), () => {
          this.meet(side, id, Math.max(LEGIBLE, this.canvases[side].scale()));
          return this.select(side, id);
        });
      },
      (error) => this.failed(error),
    );
  }

  /** @param {string} key */
  key(key) {
    if (key === "n") this.differences.step(1);
    else if (key === "p") this.differences.step(-1);
    else return false;
    return true;
  }

  /** @param {any} error */
  failed(error) {
    const { t } = this.app;
    this.canvases.forEach((canvas) => canvas.wait(false));
    replace(this.facts.isConnected ? this.facts : this.root, empty({ icon: "warning", title: t("graph.failed"), text: t(error.key ?? "error.http", error.vars) }));
  }

  /** What is compared stays as it is while runs grow. */
  changed() {}

  end() {
    [this.opening, this.drawing, this.pointing].forEach((asking) => asking.end());
    this.offSelection();
  }
}
