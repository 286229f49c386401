// Requests of the comparison of two graphs.

import { rewritten } from "./staleness.js";
import { counterpart } from "./counterpart.js";
import { VIEWS } from "./pair_state.js";

/** @typedef {0 | 1} Side left and right */
/** @typedef {import("../../core/answers.js").NodePair} NodePair */
/** @typedef {import("../../core/types.js").Parameters} Parameters */
/** @typedef {import("./staleness.js").Graphs} Graphs */

export const SIDES = /** @type {Side[]} */ ([0, 1]);
export const NAMES = /** @type {const} */ (["left", "right"]);

/** Requests for the pair of graphs in a state. */
export class Pair {
  /** @param {import("../../core/types.js").App["api"]} api @param {import("./pair_state.js").State} state */
  constructor(api, state) {
    this.api = api;
    this.state = state;
    /** What each run has. @type {Graphs[]} */
    this.graphs = [];
  }

  /**
   * Replace graphs and views that the runs do not have by ones they have.
   * @param {import("../../core/types.js").Run[]} runs
   * @param {AbortSignal} signal
   */
  async settle(runs, signal) {
    const { state } = this;
    const [left, right] = state.sides;
    const first = await this.graphsOf(left.run, signal);
    if (!first.tags.includes(left.tag)) left.tag = first.tags[0] ?? "";
    if (!right.run) Object.assign(right, counterpart(runs, left, first.tags));
    const second = right.run === left.run ? first : await this.graphsOf(right.run, signal);
    if (!second.tags.includes(right.tag)) right.tag = second.tags[0] ?? "";
    this.graphs = [first, second];
    if (!this.views().includes(state.view)) state.view = this.views()[0] ?? "recorded";
  }

  /**
   * Request the list of a run's graphs.
   * @param {string} run
   * @param {AbortSignal} signal
   * @returns {Promise<Graphs>}
   */
  graphsOf(run, signal) {
    return this.api.get("v2/graph/graphs", { run }, { signal });
  }

  /** Return the views that both runs have. */
  views() {
    return VIEWS.filter((view) =>
      this.graphs.every((graphs) => (view === "dataset" ? graphs.dataset : graphs.tags.length)),
    );
  }

  /** Return whether a shown graph was written again. @param {Graphs[]} graphs there are now */
  stale(graphs) {
    const { sides, view } = this.state;
    return view !== "dataset" && SIDES.some((at) => rewritten(this.graphs[at], graphs[at], sides[at].tag));
  }

  /** Return the request parameters of one side's graph. @param {Side} side */
  named(side) {
    const { sides, view } = this.state;
    return { run: sides[side].run, tag: view === "dataset" ? null : sides[side].tag, view };
  }

  /**
   * Request data about the comparison.
   * @param {string} path
   * @param {Parameters} params
   * @param {AbortSignal} signal
   */
  ask(path, params, signal) {
    const second = this.named(1);
    return this.api.get(
      `v2/graph/compare/${path}`,
      { ...this.named(0), other_run: second.run, other_tag: second.tag, ...params },
      { signal },
    );
  }

  /** Request a node and its partner. @param {Side} side @param {number} id @param {AbortSignal} signal */
  node(side, id, signal) {
    return this.ask("node", side === 0 ? { node: id } : { other_node: id }, signal);
  }

  /** Request both drawings. @param {AbortSignal} signal */
  pictures(signal) {
    const { open, open2 } = this.state;
    return this.ask("pictures", { open: open?.join(","), other_open: open2.join(",") || null }, signal);
  }
}

/**
 * Return the node of a pair on one side, or the innermost drawn scope that contains it; null if the side has
 * none.
 * @param {import("../../components/graph/canvas.js").Canvas} canvas
 * @param {NodePair} pair
 * @param {"left" | "right"} name
 * @returns {number | null}
 */
export function innermost(canvas, pair, name) {
  if (!pair[name]) return null;
  const boxes = new Set(canvas.boxes().map((box) => box.id));
  return [...pair.around[name], pair[name].id].reverse().find((id) => boxes.has(id)) ?? null;
}

/**
 * Return where a node that only one graph has would stand in the other: its innermost scope that both
 * drawings have, and the node's middle from the corner of that scope. Null without such a scope.
 * @param {import("../../components/graph/canvas.js").Canvas[]} canvases
 * @param {NodePair} pair
 * @param {Side} side that has the node
 */
export function standIn(canvases, pair, side) {
  const own = new Map(canvases[side].boxes().map((box) => [box.id, box]));
  const drawn = new Set(canvases[1 - side].boxes().map((box) => box.id));
  const box = own.get(innermost(canvases[side], pair, NAMES[side]) ?? -1);
  for (const id of [...pair.around[NAMES[side]]].reverse()) {
    const scope = own.get(id);
    const { partner = null } = /** @type {{partner?: number | null}} */ (scope ?? {});
    if (!box || !scope || partner === null || !drawn.has(partner)) continue;
    return { id: partner, point: { x: box.x + box.w / 2 - scope.x, y: box.y + box.h / 2 - scope.y } };
  }
  return null;
}
