// Charts, drawn one per frame when they come near the window, and removed when far away. Line charts are
// first drawn as a light SVG and by Plotly once the user points at them; other charts are drawn by Plotly at
// once.

import { listenToKeys, SHORTCUTS, takesKeys } from "./chart_keys.js";
import { chartFormat } from "./format.js";
import { Plotlys } from "./plotlys.js";
import { onAttention } from "./sketch/pointing.js";
import { canSketch, Sketch } from "./sketch/sketch.js";

/** @typedef {import("./sketch/axis.js").Axis} Axis */
/** @typedef {import("./types.js").Plot} Plot */
/** @typedef {import("./types.js").Plotly} Plotly */
/** @typedef {import("./types.js").PlotlyLayout} PlotlyLayout */
/** @typedef {import("./types.js").Trace} Trace */

/**
 * @typedef {Object} Figure of Plotly
 * @property {Trace[]} data
 * @property {PlotlyLayout} layout
 * @property {Record<string, unknown>} [config]
 * @property {boolean} [sketch] whether it may be sketched until somebody turns to it
 * @property {Trace[]} [still] traces that `data` begins with, the same array as long as they look the same:
 *   a sketch draws only the others anew
 */
/**
 * @typedef {Object} Chart
 * @property {() => Figure} figure
 * @property {boolean} near
 * @property {number} far px outside the window
 * @property {boolean} dirty
 * @property {Plotly | null} drawn the Plotly it is drawn by
 * @property {Sketch | null} sketch while Plotly has not drawn it
 * @property {boolean} attended whether somebody has turned to it since it came near
 * @property {(plot: Plot) => void} [ready]
 * @property {() => void} [sketched]
 */

const CONFIG = {
  displayModeBar: false,
  displaylogo: false,
  responsive: false,
  doubleClick: "reset",
  showTips: false,
};
const USUAL = ".4g"; // format of numbers in texts of figures
const BUDGET = 6; // ms of a frame for charts: of those that are quick, several are drawn in one
const NEAR = "240px 0px"; // how far outside the window a chart is drawn already

/** All charts of the application. */
export class Charts {
  #plotlys;
  /** @type {Map<Element, Chart>} */
  #charts = new Map();
  /** @type {Set<Element>} */
  #queue = new Set();
  /** @type {WeakSet<Element>} */
  #listening = new WeakSet();
  #busy = false;
  #revision = 0;
  /** @type {(() => void)[]} */
  #waiting = [];
  #observer = new IntersectionObserver((entries) => entries.forEach((entry) => this.#moved(entry)), {
    rootMargin: NEAR,
  });
  #sized = new ResizeObserver((entries) => entries.forEach(({ target }) => this.#resized(target)));

  /**
   * @param {{plotly: string, assets: string}} boot
   * @param {import("./theme.js").Theme} theme
   */
  constructor(boot, theme) {
    this.#plotlys = new Plotlys(boot);
    theme.on(() => this.#charts.forEach((chart, element) => this.#mark(element, chart)));
  }

  /** Load what draws a trace type while the data is on its way. @param {string} type */
  prepare(type) {
    this.#plotlys.get([{ type }]).catch(() => {}); // drawing will say so
  }

  /**
   * Save a chart as an image file.
   * @param {Element} element
   * @param {Record<string, unknown>} options of Plotly
   * @param {(figure: Figure) => Figure} [as] how it looks in the file
   */
  async download(element, options, as = (figure) => figure) {
    const chart = this.#charts.get(element);
    if (!chart) return;
    /** Return the figure of a chart, or null if the element is no chart. */
    const figure = chart.figure();
    const Plotly = chart.drawn || (await this.#plotlys.get(figure.data));
    await Plotly.downloadImage(as(figure), options);
  }

  /** Return the address of the Plotly build that can draw all of these figures. @param {Figure[]} figures */
  script(figures) {
    return this.#plotlys.address(figures.flatMap((figure) => figure.data));
  }

  /**
   * Turn an element into a chart. `figure` is called for each drawing and must return current data and
   * colours. The element needs a height of its own (class "chart").
   * @param {Element} element
   * @param {() => Figure} figure
   * @param {(plot: Plot) => void} [ready] called each time Plotly has drawn the chart from nothing
   * @param {() => void} [sketched] called each time it was sketched
   */
  draw(element, figure, ready, sketched) {
    const chart = this.#charts.get(element);
    if (chart) {
      chart.figure = figure;
      this.#mark(element, chart);
      return;
    }
    const nothing = { near: false, far: 0, dirty: true, drawn: null, sketch: null, attended: false };
    this.#charts.set(element, { figure, ...nothing, ready, sketched });
    this.#observer.observe(element);
    this.#sized.observe(element);
    if (this.#listening.has(element)) return;
    this.#listening.add(element);
    listenToKeys(element, () => this.#charts.get(element)?.drawn ?? null);
    onAttention(/** @type {HTMLElement} */ (element), () => this.#attend(element));
  }

  /** Replace the light drawing of a chart by Plotly's. @param {Element} element */
  #attend(element) {
    const chart = this.#charts.get(element);
    if (!chart || chart.attended) return;
    chart.attended = true;
    if (chart.sketch) this.#mark(element, chart);
  }

  /**
   * Draw a chart again with the current figure. Ignores elements that are no chart.
   * @param {Element} element
   */
  redraw(element) {
    const chart = this.#charts.get(element);
    if (chart) this.#mark(element, chart);
  }

  /** Remove a chart and stop observing its element. @param {Element} element */
  remove(element) {
    const chart = this.#charts.get(element);
    if (!chart) return;
    this.#charts.delete(element);
    this.#queue.delete(element);
    this.#observer.unobserve(element);
    this.#sized.unobserve(element);
    this.#takeDown(element, chart);
  }

  /** Remove all charts inside an element. @param {Element} root */
  removeAll(root) {
    for (const element of [...this.#charts.keys()]) {
      if (root.contains(element)) this.remove(element);
    }
  }

  /**
   * What a chart shows, drawn or not; null for an element that is none.
   * @param {Element} element
   * @returns {Figure | null}
   */
  figure(element) {
    return this.#charts.get(element)?.figure() ?? null;
  }

  /**
   * Return the axes of a chart for placing a pointer, or null before it is drawn.
   * @param {Element} element
   * @returns {{xaxis: Axis, yaxis: Axis} | null}
   */
  axes(element) {
    return /** @type {Plot} */ (element)._fullLayout ?? this.#charts.get(element)?.sketch?.axes ?? null;
  }

  /** Resolve when all queued charts have been drawn. @returns {Promise<void>} */
  drawn() {
    return this.#busy ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve();
  }

  /** Return whether a chart is near the window. @param {Element} element */
  visible(element) {
    return this.#charts.get(element)?.near ?? false;
  }

  /**
   * Draw a chart that came near the window, or remove the drawing of one that left.
   * @param {IntersectionObserverEntry} entry
   */
  #moved(entry) {
    const chart = this.#charts.get(entry.target);
    if (!chart) return;
    chart.near = entry.isIntersecting;
    chart.far = Math.max(0, entry.boundingClientRect.top - innerHeight, -entry.boundingClientRect.bottom);
    if (chart.near && chart.dirty) this.#enqueue(entry.target);
    else if (!chart.near) this.#takeDown(entry.target, chart);
  }

  /** Redraw a chart whose size has changed. @param {Element} element */
  #resized(element) {
    const chart = this.#charts.get(element);
    if (chart && (chart.drawn || chart.sketch) && !sameSize(element, chart)) this.#mark(element, chart);
  }

  /**
   * Mark a chart as outdated, and queue it if it is near the window.
   * @param {Element} element
   * @param {Chart} chart
   */
  #mark(element, chart) {
    chart.dirty = true;
    if (chart.near) this.#enqueue(element);
  }

  /** Queue a chart and start drawing. @param {Element} element */
  #enqueue(element) {
    this.#queue.add(element);
    if (this.#busy) return;
    this.#busy = true;
    requestAnimationFrame(() => this.#work());
  }

  /** Return the queued chart nearest to the window, or null. */
  #next() {
    const far = (/** @type {Element} */ element) => this.#charts.get(element)?.far ?? 0;
    let next = null;
    for (const element of this.#queue) if (!next || far(element) < far(next)) next = element;
    return next;
  }

  /** Draw the queued charts, one per frame. */
  async #work() {
    const began = performance.now();
    for (let element = this.#next(); element; element = this.#next()) {
      this.#queue.delete(element);
      await this.#paint(element).catch((error) => console.error(error));
      if (performance.now() - began > BUDGET) break;
    }
    this.#busy = this.#queue.size > 0;
    if (this.#busy) requestAnimationFrame(() => this.#work());
    else this.#waiting.splice(0).forEach((resolve) => resolve());
  }

  /** Draw a chart now, as a light SVG or by Plotly. @param {Element} element */
  async #paint(element) {
    const chart = this.#charts.get(element);
    if (!chart?.near || !chart.dirty) return;
    chart.dirty = false;
    const figure = chart.figure();
    if (figure.sketch && !chart.drawn && !chart.attended && canSketch(figure)) {
      this.#sketch(/** @type {HTMLElement} */ (element), chart, figure);
      return;
    }
    const { data: traces, layout, config } = figure;
    const data = traces.map(inChosenFormat);
    const Plotly = await this.#plotlys.get(data);
    if (this.#charts.get(element) !== chart || !element.isConnected) return;
    chart.dirty ||= !chart.near;
    if (!chart.near) return; // scrolled away while Plotly was loaded
    if (chart.drawn && chart.drawn !== Plotly) chart.drawn.purge(element);
    const anew = chart.drawn !== Plotly;
    chart.sketch?.remove();
    chart.sketch = null;
    chart.drawn = Plotly;
    const size = { width: element.clientWidth, height: element.clientHeight };
    // Without a new revision, data that is the same leaves axes with ranges nobody has worked out.
    await Plotly.react(
      element,
      data,
      { ...size, ...layout, datarevision: ++this.#revision },
      { ...CONFIG, ...config },
    );
    if (takesKeys(element)) {
      element.setAttribute("tabindex", "0");
      element.setAttribute("aria-keyshortcuts", SHORTCUTS);
    }
    if (anew) chart.ready?.(/** @type {Plot} */ (element));
  }

  /**
   * Draw a chart as a light SVG.
   * @param {HTMLElement} element
   * @param {Chart} chart
   * @param {Figure & import("./sketch/sketch.js").Sketchable} figure
   */
  #sketch(element, chart, figure) {
    chart.sketch ??= new Sketch(element);
    chart.sketch.draw(figure, { width: element.clientWidth, height: element.clientHeight });
    element.setAttribute("tabindex", "0");
    this.#plotlys.prefetch(figure.data);
    chart.sketched?.();
  }

  /**
   * Remove a chart's drawing. It is drawn again when the chart comes near.
   * @param {Element} element
   * @param {Chart} chart
   */
  #takeDown(element, chart) {
    if (!chart.drawn && !chart.sketch) return;
    chart.drawn?.purge(element);
    chart.sketch?.remove();
    chart.drawn = chart.sketch = null;
    chart.dirty = true;
    chart.attended = false;
  }
}

/** Return whether a drawing has the size of its element. @param {Element} element @param {Chart} chart */
function sameSize(element, { sketch }) {
  const size = sketch?.size ?? /** @type {Plot} */ (element)._fullLayout;
  return size && size.width === element.clientWidth && size.height === element.clientHeight;
}

/** Return the trace with hover texts in the user's number format. @param {Trace} trace */
function inChosenFormat(trace) {
  const text = trace.hovertemplate;
  const format = chartFormat();
  if (typeof text !== "string" || format === USUAL) return trace;
  return { ...trace, hovertemplate: text.replaceAll(`:${USUAL}}`, `:${format}}`) };
}
