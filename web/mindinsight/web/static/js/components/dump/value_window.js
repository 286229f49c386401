// Values of one tensor: histogram, slice as heat map or table, links to notable elements, and download.

import { button, segments } from "../button.js";
import { plotArea } from "../chart_card.js";
import { empty } from "../empty.js";
import { windowText } from "../slice_window.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { colourRange } from "../../core/ramp.js";
import { rangeText } from "../range_text.js";
import { sliceTable } from "../slice_table.js";
import { errorText } from "./failure.js";
import { histogramFigure, sliceFigure } from "./tensor_figures.js";

/** @typedef {import("../../core/answers.js").Counts} Counts */
/** @typedef {import("../../core/answers.js").Slice} Slice */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {"histogram" | "heat" | "table"} Mode */
/**
 * `cell`: row and column of the slice that were gone to.
 * @typedef {{key: string, mode: Mode, dims: string, top: number, left: number, cell?: number[] | null}} Look
 */

const WINDOW = 200;
/** @type {Mode[]} */
const MODES = ["histogram", "heat", "table"];

/** Elements that are gone to, by the statistic that describes them. */
const ELEMENTS = ["minimum", "maximum", "nans", "positive_infs", "negative_infs"];
const AXES = 2; // rows and columns of a table

/** Return the initial view of a tensor. @param {string} key of the tensor @returns {Look} */
export function firstLook(key) {
  return { key, mode: "histogram", dims: "", top: 0, left: 0 };
}

/**
 * Return the view of the table whose window has the element of an index.
 * @param {number[]} index
 * @returns {Partial<Look>}
 */
export function lookAt(index) {
  const fixed = Math.max(0, index.length - AXES);
  const [row = 0, column = 0] = index.slice(fixed);
  const [top, left] = [row, column].map((at) => at - (at % WINDOW));
  const dims = `[${index.map((at, axis) => (axis < fixed ? at : ":")).join(",")}]`;
  return { mode: "table", dims, top, left, cell: [row, column] };
}

/** Controls and picture of the values of one tensor. */
export class ValueWindow {
  /**
   * @param {App} app
   * @param {{routes: string, tensor: import("../../core/types.js").Parameters, look: Look}} options
   *   `routes`: prefix of values,
   *   histogram, heatmap and download; `tensor`: parameters that name it there; `look` is changed in place
   */
  constructor(app, { routes, tensor, look }) {
    this.app = app;
    this.routes = routes;
    this.tensor = tensor;
    this.look = look;
    this.body = h("div", { class: "dump-values" });
    this.requests = latest(this.body);
    this.searches = latest();
    /** @type {HTMLInputElement} */
    this.dims = h("input", {
      type: "text",
      class: "mono",
      "aria-label": app.t("tensor.dims"),
      title: app.t("tensor.dims_how"),
      onchange: () => this.move({ dims: this.dims.value.trim(), top: 0, left: 0, cell: null }),
    });
    const label = h("span", { class: "label" }, app.t("tensor.dims"));
    this.slice = h("label", { class: "field inline" }, label, this.dims);
    this.modes = this.modeChoice();
    this.elements = h("div", { class: "toolbar small dump-elements" });
    this.element = h("div", null, this.elements, this.toolbar(), this.body);
    this.searches.ask(
      () => app.api.get(`${routes}/elements`, tensor),
      (indices) => replace(this.elements, this.links(/** @type {Record<string, number[]>} */ (indices))),
      () => {}, // the body says why the values cannot be read
    );
  }

  /** Create the buttons that go to notable elements. @param {Record<string, number[]>} indices */
  links(indices) {
    return ELEMENTS.filter((name) => indices[name]).map((name) => {
      const index = indices[name];
      const label = this.app.t(`dump.element.${name}`, { at: `[${index.join(", ")}]` });
      return button(label, () => this.go(index), { class: "link" });
    });
  }

  /** Show the element of an index in the table. @param {number[]} index */
  go(index) {
    this.modes.set("table");
    this.dims.value = "";
    this.move(lookAt(index));
  }

  /** Create the choice of the mode. */
  modeChoice() {
    const { t } = this.app;
    return segments({
      label: t("dump.view"),
      options: MODES.map((value) => ({ value, label: t(`dump.values.${value}`) })),
      value: this.look.mode,
      onchange: (mode) => this.move({ mode: /** @type {Mode} */ (mode) }),
    });
  }

  /** Create the controls. */
  toolbar() {
    const { t, api } = this.app;
    const href = api.build(`${this.routes}/download`, this.tensor);
    const file = h("a", { class: "button", href, download: "" }, t("dump.download"));
    return h("div", { class: "toolbar" }, this.modes, this.slice, file);
  }

  /** Change what is shown and redraw. @param {Partial<Look>} changes */
  move(changes) {
    Object.assign(this.look, changes);
    this.draw();
  }

  /** Fetch the values and show them. */
  draw() {
    const { app, body, dims, look } = this;
    this.slice.hidden = look.mode === "histogram";
    app.charts.removeAll(body);
    const typed = dims.value;
    this.requests.ask(
      () => this.fetch(),
      (answer) => {
        if ("dims" in answer && dims.value === typed) dims.value = answer.dims;
        this.show(answer);
      },
      (error) => replace(body, empty({ icon: "warning", title: errorText(app, error) })),
    );
  }

  /** Request the values for the current view. @returns {Promise<Counts | Slice>} */
  fetch() {
    const { routes, tensor, look } = this;
    const { api } = this.app;
    const dims = look.dims || null;
    if (look.mode === "histogram") return api.columns(`${routes}/histogram`, tensor);
    if (look.mode === "heat") return api.columns(`${routes}/heatmap`, { ...tensor, dims });
    return api.columns(`${routes}/values`, { ...tensor, dims, top: look.top, left: look.left });
  }

  /** Show fetched values. @param {Counts | Slice} answer */
  show(answer) {
    const { app, body, look } = this;
    if ("counts" in answer && answer.elements !== undefined) {
      replace(body, h("p", { class: "muted", role: "status" }, emptyText(app, answer)));
    } else if ("counts" in answer) this.chart(histogramFigure(app, answer));
    else if (look.mode === "heat") {
      this.chart(sliceFigure(app, answer), rangeText(app, colourRange(answer.values)));
    } else {
      const marked = look.cell && [look.cell[0] - answer.top, look.cell[1] - answer.left];
      const { element, reveal } = sliceTable(app, { ...answer, marked }, { digits: 5, scientific: false });
      replace(
        body,
        element,
        pager(app, answer, (changes) => this.move(changes)),
      );
      reveal();
    }
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
    this.searches.end();
  }

  /**
   * Draw a figure.
   * @param {import("../../core/charts.js").Figure} figure
   * @param {HTMLElement | null} [legend]
   */
  chart(figure, legend = null) {
    const { app, body, look } = this;
    const plot = plotArea(app.t(`dump.values.${look.mode}`));
    replace(body, plot, legend);
    app.charts.draw(plot, () => figure);
  }
}

/**
 * Return why a histogram has no bar: the tensor has no element, or none that is finite.
 * @param {App} app
 * @param {Counts} histogram
 */
export function emptyText({ t }, { elements = 0, nans = 0 }) {
  if (!elements) return t("dump.values.none");
  if (nans === elements) return t("dump.values.all_nan", { n: elements });
  return t(nans ? "dump.values.none_finite" : "dump.values.all_infinite", { n: elements, nans });
}

/**
 * Create the position of the window in the slice and buttons that move it.
 * @param {App} app
 * @param {Slice} slice
 * @param {(some: Partial<Look>) => void} move
 */
function pager(app, slice, move) {
  const { t } = app;
  const [rows, columns] = slice.window;
  const step = (
    /** @type {string} */ name,
    /** @type {Partial<Look>} */ changes,
    /** @type {boolean} */ possible,
  ) =>
    h("button", { type: "button", disabled: !possible, onclick: () => move(changes) }, t(`tensor.${name}`));
  const status = windowText(app, slice);
  const complete = rows === slice.rows && columns === slice.columns;
  const moves = !complete && [
    step("up", { top: Math.max(0, slice.top - WINDOW) }, slice.top > 0),
    step("down", { top: slice.top + WINDOW }, slice.top + rows < slice.rows),
    step("left", { left: Math.max(0, slice.left - WINDOW) }, slice.left > 0),
    step("right", { left: slice.left + WINDOW }, slice.left + columns < slice.columns),
  ];
  return h("div", { class: "toolbar small" }, h("span", { class: "muted" }, status), moves);
}
