// Dump overlay of a graph: choice of a dump, and boxes coloured by what it contains.

import { claimText } from "../../core/claims.js";
import { button } from "../../components/button.js";
import { knownFault, searchFault } from "../../components/dump/fault_search.js";
import { toast } from "../../components/toast.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { errorText } from "../../components/dump/failure.js";
import { position, settlePosition } from "../../components/dump/state.js";
import { compareGraphs, dumpControls } from "./dump_controls.js";
import { dumpClaims, dumpFacts } from "./dump_facts.js";
import { dumpLegend } from "../../components/graph/dump_legend.js";
import { marksOf } from "../../components/graph/dump_marks.js";
import { readState, SYMPTOMS, writeState } from "./dump_state.js";
import { nearestFirst } from "../../components/graph/nearest_dumps.js";
import { drawnText } from "./scopes.js";

/** @typedef {import("../../core/answers.js").Ask} Ask */
/** @typedef {import("../../core/answers.js").DumpSummary} DumpSummary */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../components/graph/shapes.js").Box} Box */
/** @typedef {import("../../components/graph/dump_marks.js").Marks} Marks */
/** @typedef {import("../../components/graph/dump_marks.js").Coloured} Coloured */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("./dump_state.js").State} State */
/**
 * @typedef {Object} Graph the graph that is shown
 * @property {import("../../components/graph/canvas.js").Canvas} canvas
 * @property {Ask} ask
 * @property {(id: number) => Promise<unknown>} goTo
 * @property {(node: number) => Promise<unknown>} outer
 * @property {(box: Box) => Marks} marks without a dump
 * @property {() => void} again something else is known of the selected node
 */

const COUNTING = 1500; // ms between two paintings while statistics are counted

/** Overlay of one dump on one graph. */
export class Dumped {
  /** @param {App} app @param {Graph} graph */
  constructor(app, graph) {
    this.app = app;
    this.graph = graph;
    this.state = readState(this.app.url);
    /** @type {DumpSummary | null} what the chosen dump holds */
    this.summary = null;
    /** @type {{id: string, run: string}[]} the nearest to the run first */
    this.dumps = [];
    /** @type {Run | null} */
    this.run = null;
    /** @type {number | null} of a check of the chosen place, in this server's memory */
    this.check = null;
    /** @type {{end: () => void} | null} */
    this.facts = null;
    /** Step whose first fault or symptom was moved into view. @type {string | null} */
    this.revealed = null;
    this.sought = false; // the search for a fault in other steps has ended, or nothing started one
    this.listing = latest();
    this.reading = latest();
    this.painting = latest();
    this.checking = latest();
    this.seeking = latest();
    this.tools = h("div", {
      class: "toolbar graph-dump",
      role: "group",
      "aria-label": app.t("graph.dump"),
      hidden: true,
    });
    this.status = h("div", { class: "row wrap small graph-told", role: "status", hidden: true });
    this.claims = h("div", { class: "row wrap small graph-claims", role: "status", hidden: true });
  }

  /** Read the state from the address. */
  restart() {
    this.state = readState(this.app.url);
  }

  /**
   * Offer the dumps for a graph's run, the run's own first.
   * @param {Run | null} run null for a graph no dump is of
   */
  offer(run) {
    const before = this.run;
    if (before && run && before.job !== run.job) this.state.dump = "";
    else if (before && run && before.id !== run.id && run.rank !== null) this.state.rank = run.rank;
    this.run = run;
    this.tools.hidden = this.status.hidden = this.claims.hidden = true;
    if (!run) return this.end();
    return this.listing.ask(
      () => this.app.api.get("v2/dump/list"),
      ({ dumps }) => {
        this.dumps = nearestFirst(dumps, run, this.app.selection.all());
        const { dump } = this.state;
        const missing = dump !== "" && !dumps.some((listed) => listed.id === dump);
        if (missing) this.state.dump = "";
        this.tools.hidden = !dumps.length;
        const opening = this.open();
        if (missing) opening.then(() => this.failed({ key: "error.unknown_dump", vars: { dump } }));
      },
      (error) => this.failed(error),
    );
  }

  /** Refresh after dumps were added, removed or extended. */
  refresh() {
    const { app, dumps, run, state } = this;
    if (!run) return;
    const ask = async () => {
      const listed = (await app.api.get("v2/dump/list")).dumps;
      const exists = listed.some((dump) => dump.id === state.dump);
      return {
        listed,
        summary: exists ? await app.api.get("v2/dump/summary", { dump: state.dump }) : null,
      };
    };
    this.listing.ask(
      ask,
      ({ listed, summary }) => {
        const unchanged =
          listed.length === dumps.length && JSON.stringify(summary) === JSON.stringify(this.summary);
        if (unchanged) this.paint();
        else this.offer(run);
      },
      leaveAsIs,
    );
  }

  /** Read the chosen dump's summary and colour the graph. */
  open() {
    const { dump, step } = this.state;
    const { url } = this.app;
    const asked = url.get("step") === String(step); // the address may still have that of another dump
    this.seeking.end();
    return this.reading.ask(
      async () => (dump ? this.app.api.get("v2/dump/summary", { dump }) : null),
      (summary) => {
        this.summary = summary;
        settlePosition(this.state, summary);
        this.changed();
        const named = ["operator", "open"].some((key) => url.get(key) !== null);
        const chosen = asked || named || this.graph.canvas.selected !== null;
        this.sought = chosen;
        if (summary && !chosen) this.toFault(true);
      },
      (error) => this.failed(error),
    );
  }

  /**
   * Change dump, rank, step or colouring.
   * @param {Partial<State>} changes
   * @param {boolean} [entry] as a new entry of the browser's history
   */
  change(changes, entry = false) {
    const another = changes.dump !== undefined && changes.dump !== this.state.dump;
    Object.assign(this.state, changes);
    if (another) this.open();
    else this.changed(entry);
  }

  /**
   * Redraw controls and colours after a change, and run the check if it is switched on.
   * @param {boolean} [entry] as a new entry of the browser's history
   */
  changed(entry = false) {
    this.check = null;
    this.checking.end();
    writeState(this.app.url, this.state, entry);
    this.controls();
    this.paint();
    this.graph.again();
    const { state } = this;
    if (!state.dump || !state.check || state.paint !== SYMPTOMS) return;
    this.checking.ask(
      () =>
        this.app.api.send("POST", "v2/dump/check", {
          dump: state.dump,
          watchpoints: [],
          ranks: [state.rank],
          steps: [state.step],
        }),
      ({ check }) => {
        this.check = check;
        this.paint();
        this.graph.again();
      },
      (error) => this.failed(error),
    );
  }

  /** Redraw the controls. */
  controls() {
    const { app, dumps, state, summary } = this;
    const rank = this.run?.rank ?? 0;
    const actions = {
      choose: (/** @type {string} */ dump) => this.change({ dump, rank, step: 0 }),
      change: (/** @type {Partial<State>} */ changes) => this.change(changes),
      toFault: () => this.toFault(),
    };
    renew(this.tools, dumpControls(app, dumps, state, summary, actions));
  }

  /** Return the request parameters of the position in the dump. */
  position() {
    return { ...position(this.state), check: this.check };
  }

  /** Request the colours of the drawn boxes and apply them; repeat until all statistics are computed. */
  paint() {
    const { canvas } = this.graph;
    const { paint, dump } = this.state;
    if (!dump || !this.summary || !canvas.picture) return this.clear();
    const shown = drawnText(canvas.boxes());
    return this.painting.ask(
      (signal) => this.graph.ask("v2/graph/dump", { ...this.position(), colour: paint, shown }, signal),
      (coloured) => {
        this.mark(coloured, paint);
        this.reveal(coloured).catch((error) => this.failed(error));
        this.tell(
          this.faultHint(),
          dumpLegend(this.app, coloured, paint),
          coloured.found === 0 && compareGraphs(this.app, this.dumps, dump, this.run),
        );
        this.claims.hidden = !coloured.claims.length;
        replace(this.claims, dumpClaims(this.app, coloured.claims, position(this.state)));
        if (!coloured.done) this.painting.later(() => this.paint(), COUNTING);
      },
      (error) => this.failed(error),
    );
  }

  /**
   * Set the marks of all boxes, and redraw if any differs.
   * @param {{boxes: Coloured[], weights: number[]} | null} coloured
   * @param {string} paint
   */
  mark(coloured, paint) {
    const { canvas } = this.graph;
    const of = new Map(coloured?.boxes.map((box) => [box.id, box]));
    let another = false;
    for (const box of canvas.boxes()) {
      const marks = coloured
        ? marksOf(this.app, of.get(box.id), paint, box.count > 0)
        : this.graph.marks(box);
      const before = [box.badge ?? null, box.heat ?? null, box.hatched ?? false];
      another ||= JSON.stringify([marks.badge, marks.heat, marks.hatched]) !== JSON.stringify(before);
      Object.assign(box, marks);
    }
    if (another) canvas.again();
    canvas.mark({ broken: new Set(coloured?.weights) });
  }

  /**
   * Open the scopes around the first fault, or else the first symptom, and select it, once for each step,
   * unless something is selected or somebody chose what is open.
   * @param {{fault?: {id: number} | null, first?: {id: number} | null}} coloured
   */
  async reveal({ fault, first }) {
    const step = JSON.stringify(position(this.state));
    const chosen = this.graph.canvas.selected !== null || this.app.url.get("open") !== null;
    const spot = fault ?? (this.sought ? first : null);
    if (!spot || chosen || this.revealed === step) return;
    this.revealed = step;
    await this.graph.goTo(spot.id);
  }

  /** Remove the overlay. */
  clear() {
    this.painting.end();
    this.status.hidden = this.claims.hidden = true;
    this.mark(null, SYMPTOMS);
  }

  /**
   * Create the details section about a node, or return null without a dump.
   * @param {number} node a place, or the number of a parameter
   * @param {"node" | "outer"} kind
   */
  about(node, kind) {
    this.facts?.end();
    this.facts = null;
    if (!this.state.dump || !this.summary) return null;
    const ask = () => this.graph.ask(`v2/graph/dump/${kind}`, { ...this.position(), node });
    const facts = dumpFacts(this.app, {
      ask,
      position: position(this.state),
      goTo: (id) => this.graph.goTo(id).catch((error) => this.failed(error)),
    });
    this.facts = facts;
    return facts.element;
  }

  /**
   * Go to the first fault over all steps and ranks, or show that none was found.
   * @param {boolean} [unasked] when a dump opens: only while nothing is selected, and nothing is said
   */
  toFault(unasked = false) {
    const { dump } = this.state;
    this.painting.end(); // its status would replace the progress
    return searchFault(
      this.app,
      this.seeking,
      { dump },
      {
        progress: (text) => this.tell(h("span", { class: "booting" }, text)),
        take: ({ faults: [fault], claims }) => {
          this.sought = true;
          this.paint();
          if (unasked && (!fault || this.graph.canvas.selected !== null)) return undefined;
          if (!fault) return toast(claims.map((claim) => claimText(this.app, claim)).join(" "));
          this.change({ rank: fault.rank, step: fault.step }, !unasked);
          // unasked, the drawing reveals it, if this graph has its operator
          return unasked ? undefined : this.toOperator(fault.tensors[0]).catch((error) => this.failed(error));
        },
        fail: (error) => this.failed(error),
      },
    );
  }

  /** Select an operator of the dump in the graph. @param {{graph: string, recorded: string}} operator */
  async toOperator({ graph, recorded }) {
    const node = await this.graph.ask("v2/graph/dump/place", { ...position(this.state), graph, recorded });
    if (node.place !== null) await this.graph.goTo(node.place);
    else if (node.outer !== null) await this.graph.outer(node.outer);
  }

  /**
   * Select the operator that the address names. Return whether there was one in this graph.
   * @returns {Promise<boolean>} whether it named an operator that is here
   */
  async arrive() {
    const { url } = this.app;
    const operator = url.get("operator");
    const graph = url.get("graph", "");
    if (operator === null || !this.state.dump) return false;
    url.set({ operator: null, graph: null });
    try {
      await this.toOperator({ graph, recorded: operator });
      return true;
    } catch (error) {
      this.failed(/** @type {Failure} */ (error));
      return false;
    }
  }

  /** Return a button to the step of the first fault, if it is known and not shown. */
  faultHint() {
    const { app, state } = this;
    const known = knownFault(state.dump);
    if (!known || (known.rank === state.rank && known.step === state.step)) return null;
    return button(app.t("graph.dump.fault_at", known), () => this.change({ ...known }, true), {
      class: "link",
    });
  }

  /** Show content in the status line. @param {...import("../../core/dom.js").Child} content */
  tell(...content) {
    this.status.hidden = false;
    replace(this.status, content);
  }

  /** Show an error in the status line. @param {Failure} error */
  failed(error) {
    this.tell(h("span", { class: "badge bad" }, errorText(this.app, error)));
  }

  /** Drop requests in flight. */
  end() {
    const { listing, reading, painting, checking, seeking } = this;
    [listing, reading, painting, checking, seeking].forEach((requests) => requests.end());
    this.facts?.end();
  }
}
