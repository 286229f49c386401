// Divergence strip: one mark per operator in execution order, as high as its error, over its layer.

import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Marks
 * @property {string[]} operators
 * @property {"distance" | "norm"} measure of the errors
 * @property {(number | string | null)[]} errors
 * @property {number[]} states
 * @property {string[]} names of the states
 * @property {{name: string, begin: number, end: number}[]} layers
 */

const HEIGHT = 96;
const TOP = 16; // room for the names of layers
const LEAST = 1e-8; // error of the lowest mark
const COLOURS = {
  agrees: "--muted",
  differs: "--warn",
  introduced: "--bad",
  unmatched: "--line-strong",
  unknown: "--line-strong",
};
const RANKS = ["unknown", "unmatched", "agrees", "differs", "introduced"]; // the last on top

/** Strip of a comparison's pairs in execution order, with keyboard and pointer selection. */
export class DivergenceStrip {
  /** @param {App} app @param {(operator: string) => void} choose */
  constructor(app, choose) {
    this.app = app;
    this.choose = choose;
    /** @type {Marks | null} */
    this.marks = null;
    this.current = 0;
    this.canvas = h("canvas", { height: String(HEIGHT) });
    this.caption = h("p", { class: "small strip-caption", "aria-hidden": "true" });
    /** @type {HTMLElement} */
    this.slider = h("div", {
      class: "divergence-strip",
      role: "slider",
      tabindex: "0",
      "aria-label": app.t("dump.strip"),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.point(this.positionAt(event)),
      onclick: (/** @type {PointerEvent} */ event) => this.open(this.positionAt(event)),
    });
    this.slider.append(this.canvas);
    this.element = h("figure", { class: "strip", hidden: true }, this.slider, this.caption, this.legend());
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.slider);
  }

  /** Create the legend. */
  legend() {
    const { t } = this.app;
    /** Move with the arrow keys, open with Enter. */
    const key = (/** @type {string} */ state) =>
      h(
        "span",
        { class: "row" },
        h("span", { class: `strip-key ${state}`, "aria-hidden": "true" }),
        t(`dump.strip.${state}`),
      );
    return h("figcaption", { class: "row wrap small muted" }, Object.keys(COLOURS).slice(0, 4).map(key));
  }

  /** Draw the marks and point at the first operator that differs. @param {Marks} marks */
  show(marks) {
    this.marks = marks;
    this.element.hidden = !marks.operators.length;
    const parting = marks.states.findIndex((state) => ["introduced", "differs"].includes(marks.names[state]));
    this.slider.setAttribute("aria-valuemin", "1");
    this.slider.setAttribute("aria-valuemax", String(marks.operators.length));
    this.draw();
    this.point(Math.max(0, parting));
  }

  /** Stop observing the size. */
  end() {
    this.observer.disconnect();
  }

  /** Return the position of the operator under the pointer. @param {PointerEvent} event */
  positionAt(event) {
    const { left, width } = this.slider.getBoundingClientRect();
    const count = this.marks?.operators.length ?? 0;
    return Math.min(count - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * count)));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const last = (this.marks?.operators.length ?? 1) - 1;
    /** @type {Record<string, number>} */
    const moves = {
      ArrowLeft: this.current - 1,
      ArrowRight: this.current + 1,
      PageUp: this.current - 100,
      PageDown: this.current + 100,
      Home: 0,
      End: last,
    };
    if (event.key in moves) this.point(Math.min(last, Math.max(0, moves[event.key])));
    else if (event.key === "Enter") this.open(this.current);
    else return;
    event.preventDefault();
  }

  /** Show name, error and state of the operator at a position. @param {number} position */
  point(position) {
    if (!this.marks?.operators.length) return;
    this.current = position;
    const { t, format } = this.app;
    const { operators, errors, measure, states, names } = this.marks;
    const error = errors[position];
    const text = t("dump.strip.at", {
      i: position + 1,
      n: operators.length,
      name: operators[position],
      measure: t(`dump.strip_by.${measure}`),
      error: error === null ? "–" : format.number(Number(error === "inf" ? Infinity : error)),
      state: t(`dump.strip.${names[states[position]]}`),
    });
    this.caption.textContent = text;
    this.slider.setAttribute("aria-valuenow", String(position + 1));
    this.slider.setAttribute("aria-valuetext", text);
    this.draw();
  }

  /** Choose the operator at a position. @param {number} position */
  open(position) {
    if (!this.marks) return;
    this.point(position);
    this.choose(this.marks.operators[position]);
  }

  /** Draw the strip. */
  draw() {
    const { marks, canvas } = this;
    const width = this.slider.clientWidth;
    const context = canvas.getContext("2d");
    if (!marks || !width || !context) return;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(HEIGHT * ratio) });
    context.scale(ratio, ratio);
    const style = getComputedStyle(this.slider);
    this.drawLayers(context, width, style);
    this.drawMarks(context, width, style);
    context.fillStyle = style.getPropertyValue("--text");
    const step = width / marks.operators.length;
    context.fillRect((this.current + 0.5) * step - 0.5, TOP - 4, 1, HEIGHT);
  }

  /**
   * Draw the layers and their names.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {CSSStyleDeclaration} style
   */
  drawLayers(context, width, style) {
    const { layers, operators } = /** @type {Marks} */ (this.marks);
    context.font = `11px ${style.fontFamily}`;
    layers.forEach(({ name, begin, end }, i) => {
      const [from, to] = [begin, end].map((position) => (position / operators.length) * width);
      context.fillStyle = style.getPropertyValue(i % 2 ? "--panel" : "--hover");
      context.fillRect(from, 0, to - from, HEIGHT);
      if (context.measureText(name).width + 6 > to - from) return;
      context.fillStyle = style.getPropertyValue("--muted");
      context.fillText(name, from + 3, 11);
    });
  }

  /**
   * Draw the marks, the most serious on top.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {CSSStyleDeclaration} style
   */
  drawMarks(context, width, style) {
    const { operators, errors, states, names } = /** @type {Marks} */ (this.marks);
    const step = width / operators.length;
    for (const state of RANKS) {
      context.fillStyle = style.getPropertyValue(COLOURS[/** @type {keyof typeof COLOURS} */ (state)]);
      states.forEach((code, position) => {
        if (names[code] !== state) return;
        const tall = markHeight(errors[position]);
        context.fillRect(position * step, HEIGHT - tall, Math.max(1, step - (step > 3 ? 1 : 0)), tall);
      });
    }
  }
}

/**
 * Return the height of a mark in pixels, on a logarithmic scale from 1e-8 to 1; at least 2.
 * @param {number | string | null} error
 */
function markHeight(error) {
  const room = HEIGHT - TOP;
  if (error === null || error === 0) return 2;
  const value = typeof error === "string" ? Infinity : error;
  const share = value >= 1 ? 1 : Math.max(0, Math.log10(value / LEAST) / -Math.log10(LEAST));
  return 2 + share * (room - 2);
}
