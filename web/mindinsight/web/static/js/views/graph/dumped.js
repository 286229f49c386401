// A dump laid over the graph of a run: which one, and the boxes coloured by what it found.

import { button } from "../../components/button.js";
import { select } from "../../components/field.js";
import { toast } from "../../components/toast.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { inWords } from "../dump/failure.js";
import { dumpName, placeChooser } from "../dump/header.js";
import { place, settlePlace, STATISTICS } from "../dump/state.js";
import { dumpFacts } from "./dump_facts.js";
import { dumpLegend } from "./dump_legend.js";
import { marksOf } from "./dump_marks.js";
import { nearestFirst } from "./nearest_dumps.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {{dump: string, rank: number, step: number, paint: string, check: boolean}} State */
/**
 * @typedef {Object} Graph the graph that is shown
 * @property {import("./canvas.js").Canvas} canvas
 * @property {(path: string, params: Record<string, any>) => Promise<any>} ask
 * @property {(id: number) => Promise<void>} goTo
 * @property {(node: number) => Promise<void>} outer
 * @property {() => void} again something else is known of the selected node
 */

const COUNTING = 1500; // ms between two paintings while statistics are counted
const SYMPTOMS = "symptoms";

export class Dumped {
  /** @param {App} app @param {Graph} graph */
  constructor(app, graph) {
    this.app = app;
    this.graph = graph;
    this.state = this.read();
    /** @type {any} what the chosen dump holds */
    this.summary = null;
    /** @type {{id: string, run: string}[]} the nearest to the run first */
    this.dumps = [];
    /** @type {Run | null} */
    this.run = null;
    /** @type {number | null} of a check of the chosen place, in this server's memory */
    this.check = null;
    /** @type {{end: () => void} | null} */
    this.facts = null;
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
    this.told = h("div", { class: "row wrap small graph-told", role: "status", hidden: true });
  }

  /** @returns {State} */
  read() {
    const { url } = this.app;
    const paint = url.get("paint", SYMPTOMS);
    const number = (/** @type {string} */ key) => Number(url.get(key, "0")) || 0;
    return {
      dump: url.get("dump", ""),
      rank: number("rank"),
      step: number("step"),
      paint: STATISTICS.includes(paint) ? paint : SYMPTOMS,
      check: url.get("check") === "1",
    };
  }

  restart() {
    this.state = this.read();
  }

  write() {
    const { dump, rank, step, paint, check } = this.state;
    const on = dump !== "";
    this.app.url.set({
      dump,
      rank: on && rank ? rank : null,
      step: on && step ? step : null,
      paint: on && paint !== SYMPTOMS ? paint : null,
      check: on && check ? "1" : null,
    });
  }

  /**
   * A graph is shown: offer the dumps there are, the run's own first.
   * @param {Run | null} run null for a graph no dump is of
   */
  offer(run) {
    const before = this.run;
    if (before && run && before.job !== run.job) this.state.dump = "";
    else if (before && run && before.id !== run.id && run.rank !== null) this.state.rank = run.rank;
    this.run = run;
    this.tools.hidden = this.told.hidden = true;
    if (!run) return this.end();
    return this.listing.ask(
      () => this.app.api.get("v2/dump/list"),
      ({ dumps }) => {
        this.dumps = nearestFirst(dumps, run, this.app.selection.all());
        if (!dumps.some((/** @type {any} */ one) => one.id === this.state.dump)) this.state.dump = "";
        this.tools.hidden = !dumps.length;
        this.open();
      },
      (error) => this.failed(error),
    );
  }

  /** Dumps may have come, gone or grown. */
  refresh() {
    const { app, dumps, run, state } = this;
    if (!run) return;
    const ask = async () => {
      const found = (await app.api.get("v2/dump/list")).dumps;
      const here = found.some((/** @type {any} */ one) => one.id === state.dump);
      return { found, summary: here ? await app.api.get("v2/dump/summary", { dump: state.dump }) : null };
    };
    this.listing.ask(
      ask,
      ({ found, summary }) => {
        const same =
          found.length === dumps.length && JSON.stringify(summary) === JSON.stringify(this.summary);
        if (same) this.paint();
        else this.offer(run);
      },
      leaveAsIs,
    );
  }

  /** Read what the chosen dump holds, and colour the graph by it. */
  open() {
    const { dump } = this.state;
    this.seeking.end();
    return this.reading.ask(
      async () => (dump ? this.app.api.get("v2/dump/summary", { dump }) : null),
      (summary) => {
        this.summary = summary;
        settlePlace(this.state, summary);
        this.changed();
      },
      (error) => this.failed(error),
    );
  }

  /** @param {Partial<State>} some */
  change(some) {
    const another = some.dump !== undefined && some.dump !== this.state.dump;
    Object.assign(this.state, some);
    if (another) this.open();
    else this.changed();
  }

  /** Another place of the dump is shown, or another colour. */
  changed() {
    this.check = null;
    this.checking.end();
    this.write();
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

  controls() {
    const { app, state, summary } = this;
    const { t } = app;
    const dumps = [
      { value: "", label: t("graph.dump.none") },
      ...this.dumps.map(({ id }) => ({ value: id, label: dumpName(id) })),
    ];
    const colours = [
      { value: SYMPTOMS, label: t("graph.dump.symptoms") },
      ...STATISTICS.map((value) => ({ value, label: t(`dump.statistic.${value}`) })),
    ];
    const on = state.dump !== "";
    renew(
      this.tools,
      select({
        label: t("dump.dump"),
        options: dumps,
        value: state.dump,
        onchange: (dump) => this.change({ dump, rank: this.run?.rank ?? 0, step: 0 }),
      }),
      on && placeChooser({ app, state, summary, change: (some) => this.change(some) }),
      on &&
        select({
          label: t("dump.graph.colour"),
          options: colours,
          value: state.paint,
          onchange: (paint) => this.change({ paint }),
        }),
      on &&
        state.paint === SYMPTOMS &&
        button(t("dump.check.common"), () => this.change({ check: !state.check }), {
          "aria-pressed": state.check,
        }),
      on && button(t("dump.find_fault"), () => this.toFault()),
    );
  }

  /** What tells the server the place in the dump. */
  place() {
    return { ...place(this.state), check: this.check };
  }

  /** Colour the boxes of the picture that is drawn. */
  paint() {
    const { canvas } = this.graph;
    const { paint, dump } = this.state;
    if (!dump || !this.summary || !canvas.picture) return this.clear();
    const { picture } = canvas;
    const shown = picture.boxes.map((box) => box.id).join(",");
    return this.painting.ask(
      () => this.graph.ask("v2/graph/dump", { ...this.place(), colour: paint, shown }),
      (found) => {
        if (picture !== canvas.picture) return;
        this.mark(found, paint);
        this.told.hidden = false;
        replace(this.told, dumpLegend(this.app, found, paint));
        if (!found.done) this.painting.later(() => this.paint(), COUNTING);
      },
      (error) => this.failed(error),
    );
  }

  /** @param {{boxes: import("./dump_marks.js").Coloured[]} | null} found @param {string} paint */
  mark(found, paint) {
    const { canvas } = this.graph;
    const of = new Map(found?.boxes.map((one) => [one.id, one]));
    let another = false;
    for (const box of canvas.boxes()) {
      const { badge, heat } = marksOf(this.app, of.get(box.id), paint, box.count > 0);
      another ||= JSON.stringify([badge, heat]) !== JSON.stringify([box.badge ?? null, box.heat ?? null]);
      Object.assign(box, { badge, heat });
    }
    if (another) canvas.again();
  }

  /** As without a dump. */
  clear() {
    this.painting.end();
    this.told.hidden = true;
    this.mark(null, SYMPTOMS);
  }

  /**
   * What the dump has of a node, for the panel.
   * @param {number} node a place, or the number of a parameter
   * @param {"node" | "outer"} kind
   */
  about(node, kind) {
    this.facts?.end();
    this.facts = null;
    if (!this.state.dump || !this.summary) return null;
    const ask = () => this.graph.ask(`v2/graph/dump/${kind}`, { ...this.place(), node });
    const facts = dumpFacts(this.app, {
      ask,
      place: place(this.state),
      goTo: (id) => this.graph.goTo(id).catch((error) => this.failed(error)),
    });
    this.facts = facts;
    return facts.element;
  }

  /** To the first operator, over all steps and ranks, that made something not finite. */
  toFault() {
    const { dump } = this.state;
    return this.seeking.ask(
      (signal) => this.app.api.get("v2/dump/fault", { dump }, { signal }),
      ({ faults: [fault] }) => {
        if (!fault) return toast(this.app.t("dump.fault.none"));
        const [tensor] = fault.tensors;
        this.change({ rank: fault.rank, step: fault.step });
        return this.toOperator(tensor.graph, tensor.recorded).catch((error) => this.failed(error));
      },
      (error) => this.failed(error),
    );
  }

  /** @param {string} graph @param {string} recorded */
  async toOperator(graph, recorded) {
    const found = await this.graph.ask("v2/graph/dump/place", { ...place(this.state), graph, recorded });
    if (found.place !== null) await this.graph.goTo(found.place);
    else await this.graph.outer(found.outer);
  }

  /**
   * Go where a link from the page of dumps leads.
   * @returns {Promise<boolean>} whether it named an operator that is here
   */
  async arrive() {
    const { url } = this.app;
    const operator = url.get("operator");
    const graph = url.get("graph", "");
    if (operator === null || !this.state.dump) return false;
    url.set({ operator: null, graph: null });
    try {
      await this.toOperator(graph, operator);
      return true;
    } catch (error) {
      this.failed(error);
      return false;
    }
  }

  /** @param {any} error */
  failed(error) {
    this.told.hidden = false;
    replace(this.told, h("span", { class: "badge bad" }, inWords(this.app, error)));
  }

  end() {
    const { listing, reading, painting, checking, seeking } = this;
    [listing, reading, painting, checking, seeking].forEach((requests) => requests.end());
    this.facts?.end();
  }
}
