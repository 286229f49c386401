// Graph tab: graph of one step, coloured by a statistic of the outputs or by the error of a comparison.

import { iconButton } from "../../components/button.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { createCanvas } from "../../components/graph/canvas.js";
import { nonFiniteSigns, scale } from "../../components/graph/dump_legend.js";
import { isNonFinite, marksOf } from "../../components/graph/dump_marks.js";
import { errorText } from "../../components/dump/failure.js";
import { number } from "../../components/dump/rows.js";
import { position, STATISTICS } from "../../components/dump/state.js";

/** @typedef {import("../../core/answers.js").DumpBox} DumpBox */
/** @typedef {import("../../core/answers.js").DumpPicture} DumpPicture */
/** @typedef {import("../dump.js").Page} Page */

const POLL = 1500; // ms between two pictures while statistics are counted

/** Create the Graph tab of a dump: the graph of one step, coloured by the dump. @param {Page} page */
export function graphPart(page) {
  const graph = new DumpGraph(page);
  graph.drawTools();
  graph.draw();
  return graph;
}

/** Return whether a box has the first fault. @param {DumpBox} box */
function isFault({ symptom }) {
  return symptom === "fault";
}

/** Drawing of one step. */
class DumpGraph {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** Statistic, or "error" for a comparison. */
    this.colour = page.app.url.get("paint", "nans");
    /** Ids of the open scopes; null: as the server opens them. @type {number[] | null} */
    this.open = null;
    /** Boxes and lines as the server lays them out. @type {DumpPicture | null} */
    this.picture = null;
    /** Whether the first fault was moved into view, or somebody went elsewhere. */
    this.revealed = false;
    this.requests = latest();
    this.canvas = createCanvas(page.app, {
      select: (/** @type {number | null} */ id) => this.pick(id),
      outer: () => undefined,
      toggle: (/** @type {number} */ id) => this.toggle(id),
      key: () => false,
    });
    this.tools = h("div", { class: "toolbar" });
    this.status = h("span", { class: "row wrap dump-graph-legend", role: "status" });
    this.element = h("div", { class: "panel dump-graph" }, this.tools, this.canvas.element);
  }

  /** Return the name of the colouring. @param {string} colour */
  colourName(colour) {
    const { t } = this.page.app;
    return colour === "error" ? t("dump.graph.error") : t(`dump.statistic.${colour}`);
  }

  /** Select a box, show its value and open its operator. @param {number | null} id */
  pick(id) {
    this.revealed = true;
    const box = this.picture?.boxes.find((candidate) => candidate.id === id);
    this.canvas.select(id);
    this.status.textContent =
      box && box.value !== null
        ? `${box.label}: ${this.colourName(this.colour)} ${number(this.page.app, box.value)}`
        : "";
    if (box?.recorded) this.page.change({ graph: box.graph ?? "", operator: box.recorded, tensor: "" });
  }

  /** Open or close a scope. @param {number} id */
  toggle(id) {
    this.revealed = true;
    const open = new Set(this.picture?.open);
    if (!open.delete(id)) open.add(id);
    this.open = [...open];
    this.draw(id);
  }

  /** Request the drawing again. */
  refresh() {
    this.draw(0);
  }

  /**
   * Request and show the drawing; repeat until all statistics are computed.
   * @param {number} [keep] id of a box that stays where it is
   */
  draw(keep) {
    const { app, state, comparison } = this.page;
    const params = {
      ...position(state),
      colour: this.colour,
      open: this.open?.join(",") ?? null,
      comparison: comparison || null,
    };
    this.requests.ask(
      () => app.api.get("v2/dump/picture", params),
      (picture) => {
        this.picture = picture;
        for (const box of picture.boxes) Object.assign(box, this.marks(box));
        this.drawLegend();
        this.canvas.show(picture, { keep });
        if (!this.revealed) this.revealed = this.canvas.reveal(picture.boxes.filter(isFault));
        if (!picture.done) this.requests.later(() => this.draw(0), POLL);
      },
      (error) => (this.status.textContent = errorText(app, error)),
    );
  }

  /** Return the marks of a box. Only non-finite values have a badge. @param {DumpBox} box */
  marks(box) {
    const marks = marksOf(this.page.app, box, this.colour, box.count > 0);
    return { ...marks, badge: isNonFinite(box.symptom) ? marks.badge : null };
  }

  /** Draw the legend. */
  drawLegend() {
    const { app } = this.page;
    const { picture } = this;
    if (!picture) return;
    replace(
      this.status,
      h("span", null, this.colourName(this.colour)),
      scale(app, picture),
      nonFiniteSigns(app, picture),
      picture.in_order && h("span", { class: "muted" }, app.t("dump.graph.in_order")),
    );
  }

  /** Draw the toolbar. */
  drawTools() {
    const { canvas, page } = this;
    const { app } = page;
    const colour = select({
      label: app.t("dump.graph.colour"),
      options: [...STATISTICS, ...(page.comparison ? ["error"] : [])].map((value) => ({
        value,
        label: this.colourName(value),
      })),
      value: this.colour,
      onchange: (value) => {
        this.colour = value;
        app.url.set({ paint: value === "nans" ? null : value });
        this.draw(0);
      },
    });
    replace(
      this.tools,
      colour,
      iconButton("plus", app.t("dump.graph.in"), () => canvas.zoom(1.25)),
      iconButton("minus", app.t("dump.graph.out"), () => canvas.zoom(0.8)),
      iconButton("reset", app.t("dump.graph.fit"), () => canvas.fit()),
      this.status,
    );
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
  }
}
