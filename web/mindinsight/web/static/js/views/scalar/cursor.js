// Cursor over all charts of the page: a line in each, and a table of values in the one under the pointer.

import { createTip } from "../../components/tip.js";
import { h, replace, svg } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { onClick } from "./click.js";
import { cursorKeys } from "./cursor_keys.js";
import { cursorTable } from "./cursor_table.js";
import { linePath, TENTHS } from "../../core/sketch/paths.js";
import { smoothedValues, xColumn } from "./curve.js";
import { nearest } from "./nearest.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/sketch/axis.js").Axis} Axis */
/** @typedef {{xaxis: Axis, yaxis: Axis}} Axes */
/**
 * A trace as it is drawn, by a sketch with its run or by Plotly with its data.
 * @typedef {SVGElement & {__data__?: {trace?: {meta?: string}}[]}} DrawnTrace
 */
/**
 * A chart that shows the cursor.
 * @typedef {Object} Member
 * @property {(x: number | null) => void} at what the curves hold at a place on x is told; null: nowhere
 * @property {() => import("./curve.js").Line[]} lines
 * @property {() => import("./options.js").Options} options
 * @property {() => import("./curve.js").Scales | null} scales
 * @property {() => import("./alert_marks.js").Mark[]} marks
 * @property {(at: number) => void} pick a place on x was clicked, in the units of the address
 */

const NEAR = 24; // px from the pointer within which a curve is emphasized
const REST_MS = 100; // before others fade: drawing a hundred curves anew at each move would hold up the line
const FRONT = 2.4; // px of the line that stands out
const READ = 3; // curves whose values are read aloud
const ON = 5; // px from the pointer within which an alert's line is described

/**
 * Create the cursor over all charts of the page: a line in each, and a table of values in one.
 * @param {App} app
 */
export function createCursor(app) {
  return new Cursor(app);
}

/** Cursor shared by all charts. */
class Cursor {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** By the chart's element. @type {Map<HTMLElement, Member & {line: HTMLElement, front: Element}>} */
    this.members = new Map();
    this.tip = createTip();
    /** What a screen reader says while keys move the cursor. */
    this.reading = h("p", { class: "unseen", role: "status" });
    document.body.append(this.reading);
    /** Draws the tip again, with all columns or few. @type {(event: {shiftKey: boolean}) => void} */
    this.redrawTip = () => {};
    this.onkey = (/** @type {KeyboardEvent} */ event) => event.key === "Shift" && this.redrawTip(event);
    document.addEventListener("keydown", this.onkey);
    document.addEventListener("keyup", this.onkey);
    /** The run that stands out in every chart; null: all are alike. @type {string | null} */
    this.emphasized = null;
    /** Timer until the pointer counts as resting. */
    this.resting = 0;
    this.unsubscribe = app.selection.onPoint((run) => this.emphasize(run));
  }

  /** Add a chart. @param {HTMLElement} element a chart's element @param {Member} member */
  join(element, member) {
    const line = h("div", { class: "scalar-cursor", hidden: true });
    const front = svg("svg", { class: "scalar-front", "aria-hidden": "true" });
    element.after(line, front);
    this.members.set(element, { ...member, line, front });
    element.addEventListener("pointermove", (event) => this.move(element, event));
    element.addEventListener("pointerleave", () => this.clear());
    const { charts } = this.app;
    onClick(element, (event) => pick(member, pointerX(element, member, charts.axes(element), event)));
    cursorKeys(element, member, {
      axes: () => charts.axes(element),
      look: (x, y, event) => this.read(this.look(element, member, x, y, event)),
      pick: (x) => pick(member, x),
      clear: () => this.clear(),
    });
  }

  /** Remove a chart. @param {HTMLElement} element */
  leave(element) {
    const member = this.members.get(element);
    member?.line.remove();
    member?.front.remove();
    this.members.delete(element);
  }

  /** Restore the emphasis of a run after a chart was drawn. @param {HTMLElement} element */
  drawn(element) {
    this.fade(element);
  }

  /** Fade all curves of a chart except those of one run. @param {HTMLElement} element */
  fade(element) {
    const member = this.members.get(element);
    const run = this.emphasized;
    const axes = this.app.charts.axes(element);
    const lines = run === null ? [] : (member?.lines() ?? []).filter(({ curve }) => curve.run === run);
    for (const trace of /** @type {NodeListOf<DrawnTrace>} */ (element.querySelectorAll(".trace"))) {
      const own = trace.dataset.run ?? trace.__data__?.[0]?.trace?.meta ?? null;
      trace.classList.toggle("faded", lines.length > 0 && own !== null && own !== run);
    }
    if (member) replace(member.front, axes && lines.length > 0 && frontOf(member, axes, lines));
  }

  /** Follow the pointer. @param {HTMLElement} element @param {PointerEvent} event */
  move(element, event) {
    const member = this.members.get(element);
    const layout = this.app.charts.axes(element);
    if (!member?.scales() || !layout?.xaxis?._length) return;
    const x = pointerX(element, member, layout, event);
    const y = event.clientY - element.getBoundingClientRect().top - layout.yaxis._offset;
    const rows = this.look(element, member, x, y, event);
    clearTimeout(this.resting);
    const run = rows.length > 1 && rows[0].away < NEAR ? rows[0].line.curve.run : null;
    this.resting = window.setTimeout(() => this.app.selection.point(run), REST_MS);
  }

  /**
   * Show the cursor at a position: a line in every chart, and the values in this one.
   * @param {HTMLElement} element
   * @param {Member} member
   * @param {number} x in the units of the curves
   * @param {number} y px in the plot
   * @param {{clientX: number, clientY: number, shiftKey: boolean}} event
   */
  look(element, member, x, y, event) {
    const layout = /** @type {Axes} */ (this.app.charts.axes(element));
    const scales = /** @type {import("./curve.js").Scales} */ (member.scales());
    this.drawLines(x);
    const rows = nearest(member, scales, layout, x, y);
    if (!rows.length) {
      this.clearTip();
      return rows;
    }
    const alerts = alertTexts(member, scales, layout.xaxis, x);
    const plot = element.getBoundingClientRect();
    this.redrawTip = ({ shiftKey: all }) => {
      const { x: axis, tip: order } = member.options();
      const table = cursorTable(this.app, rows, { axis, order, all });
      this.tip.show(event.clientX, event.clientY, plot, [...alerts, ...table]);
    };
    this.redrawTip(event);
    return rows;
  }

  /**
   * Announce the values of the nearest curves to screen readers.
   * @param {import("./nearest.js").Near[]} rows
   */
  read(rows) {
    const texts = rows
      .slice(0, READ)
      .map(({ line, row }) => `${line.label}: ${number(smoothedValues(line.curve)[row], 6)}`);
    const step = rows.length ? number(rows[0].line.curve.step[rows[0].row], 12) : "";
    replace(this.reading, [this.app.t("scalar.tip.step_of", { step }), ...texts].join("; "));
  }

  /** Draw the line in every chart. @param {number} x in the units of the curves */
  drawLines(x) {
    for (const [element, member] of this.members) {
      const axis = this.app.charts.axes(element)?.xaxis;
      const scales = member.scales();
      if (!axis || !scales || !this.app.charts.visible(element)) continue;
      member.at(x);
      const at = axis.c2p(scales.x.to(x));
      member.line.hidden = !(at >= 0 && at <= axis._length);
      member.line.style.transform = `translateX(${Math.round(axis._offset + at)}px)`;
    }
  }

  /** Emphasize a run in every chart; null ends it. @param {string | null} run */
  emphasize(run) {
    if (run === this.emphasized) return;
    this.emphasized = run;
    for (const element of this.members.keys()) if (this.app.charts.visible(element)) this.fade(element);
  }

  /** Hide the tooltip. */
  clearTip() {
    this.redrawTip = () => {};
    this.tip.hide();
  }

  /** Hide the cursor. */
  clear() {
    clearTimeout(this.resting);
    this.clearTip();
    if (this.emphasized !== null) this.app.selection.point(null);
    for (const member of this.members.values()) {
      if (member.line.hidden) continue;
      member.line.hidden = true;
      member.at(null);
    }
  }

  /** Remove the cursor. */
  end() {
    this.unsubscribe();
    document.removeEventListener("keydown", this.onkey);
    document.removeEventListener("keyup", this.onkey);
    this.clear();
    this.tip.remove();
    this.reading.remove();
    this.members.clear();
  }
}

/** Show the values at a position below the charts. @param {Member} member @param {number} x */
function pick(member, x) {
  const axis = member.options().x;
  if (Number.isFinite(x)) member.pick(axis === "wall" ? x / 1000 : axis === "step" ? Math.round(x) : x);
}

/**
 * Return the pointer's position on the x axis in the curves' units; NaN before the chart is drawn.
 * @param {HTMLElement} element
 * @param {Member} member
 * @param {Axes | null} axes
 * @param {PointerEvent} event
 */
function pointerX(element, member, axes, event) {
  const axis = axes?.xaxis;
  const scales = member.scales();
  if (!axis?._length || !scales) return NaN;
  return scales.x.from(axis.p2c(event.clientX - element.getBoundingClientRect().left - axis._offset));
}

/**
 * The lines of the run that stands out, over a chart that may have drawn them as a part of many.
 * @param {Member} member @param {Axes} axes @param {import("./curve.js").Line[]} lines
 */
function frontOf(member, { xaxis, yaxis }, lines) {
  const { x, y } = /** @type {import("./curve.js").Scales} */ (member.scales());
  const axis = member.options().x;
  const box = { x: xaxis._offset, y: yaxis._offset, width: xaxis._length, height: yaxis._length };
  const scaled = {
    x: { ...xaxis, c2p: (/** @type {number} */ value) => xaxis.c2p(x.to(value)) },
    y: { ...yaxis, c2p: (/** @type {number} */ value) => yaxis.c2p(y.to(value)) },
  };
  const paths = lines.map(({ curve, colour }) =>
    svg("path", {
      d: linePath(xColumn(curve, axis), smoothedValues(curve), scaled),
      stroke: colour,
      "stroke-width": FRONT * TENTHS,
    }),
  );
  return svg("svg", box, svg("g", { transform: `scale(${1 / TENTHS})`, fill: "none" }, paths));
}

/**
 * Return the texts of alerts whose marks are under the pointer.
 * @param {Member} member
 * @param {import("./curve.js").Scales} scales
 * @param {Axis} xaxis
 * @param {number} x
 */
function alertTexts(member, scales, xaxis, x) {
  const pixel = (/** @type {number} */ at) => xaxis.c2p(scales.x.to(at));
  return member
    .marks()
    .filter((mark) => Math.abs(pixel(mark.x) - pixel(x)) <= ON)
    .map(({ colour, words }) => h("p", { class: "tip-alert", style: { color: colour } }, words));
}
