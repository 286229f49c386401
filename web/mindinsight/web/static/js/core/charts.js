// Plotly, used sparingly: a chart is drawn when it is seen, one per frame, and taken down when far away.

import { Plotlys } from "./plotlys.js";

/** @typedef {{data: any[], layout: Record<string, any>, config?: Record<string, any>}} Figure */
/**
 * @typedef {Object} Chart
 * @property {() => Figure} figure
 * @property {boolean} near
 * @property {number} far px outside the window
 * @property {boolean} dirty
 * @property {any} drawn the Plotly it is drawn by
 * @property {(plot: any) => void} [ready]
 */

const CONFIG = {
  displayModeBar: false,
  displaylogo: false,
  responsive: false,
  doubleClick: "reset",
  showTips: false,
};
const NEAR = "240px 0px"; // how far outside the window a chart is drawn already

export class Charts {
  #plotlys;
  /** @type {Map<Element, Chart>} */
  #charts = new Map();
  /** @type {Set<Element>} */
  #queue = new Set();
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

  /**
   * A chart of this type will be drawn: what can draw it is loaded while its data is on the way.
   * @param {string} type
   */
  prepare(type) {
    this.#plotlys.get([{ type }]).catch(() => {}); // drawing will say so
  }

  /**
   * A chart as a picture in a file.
   * @param {Element} element
   * @param {Record<string, any>} options of Plotly
   * @param {(figure: Figure) => Figure} [as] how it looks in the file
   */
  async download(element, options, as = (figure) => figure) {
    const chart = this.#charts.get(element);
    if (!chart) return;
    const figure = chart.figure();
    const Plotly = chart.drawn || (await this.#plotlys.get(figure.data));
    await Plotly.downloadImage(as(figure), options);
  }

  /** The address of what can draw all of these figures. @param {Figure[]} figures */
  script(figures) {
    return this.#plotlys.address(figures.flatMap((figure) => figure.data));
  }

  /**
   * Make an element a chart. `figure` is called each time it is drawn, so it should read the newest data
   * and the theme's colours then. The element needs a height of its own (class "chart").
   * @param {Element} element @param {() => Figure} figure
   * @param {(plot: any) => void} [ready] called each time the chart has come up from nothing
   */
  draw(element, figure, ready) {
    const chart = this.#charts.get(element);
    if (chart) {
      chart.figure = figure;
      this.#mark(element, chart);
      return;
    }
    this.#charts.set(element, { figure, near: false, far: 0, dirty: true, drawn: null, ready });
    this.#observer.observe(element);
    this.#sized.observe(element);
  }

  /** Draw again with what `figure` says now. @param {Element} element */
  redraw(element) {
    const chart = this.#charts.get(element);
    if (chart) this.#mark(element, chart);
  }

  /** @param {Element} element */
  remove(element) {
    const chart = this.#charts.get(element);
    if (!chart) return;
    this.#charts.delete(element);
    this.#queue.delete(element);
    this.#observer.unobserve(element);
    this.#sized.unobserve(element);
    chart.drawn?.purge(element);
  }

  /** Everything inside an element that is going away. @param {Element} root */
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

  /** When all that is to be drawn now has been. @returns {Promise<void>} */
  drawn() {
    return this.#busy ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve();
  }

  /** Whether a chart is near the window. @param {Element} element */
  visible(element) {
    return this.#charts.get(element)?.near ?? false;
  }

  /** @param {IntersectionObserverEntry} entry */
  #moved(entry) {
    const chart = this.#charts.get(entry.target);
    if (!chart) return;
    chart.near = entry.isIntersecting;
    chart.far = Math.max(0, entry.boundingClientRect.top - innerHeight, -entry.boundingClientRect.bottom);
    if (chart.near && chart.dirty) this.#enqueue(entry.target);
    else if (!chart.near && chart.drawn) this.#purge(entry.target, chart);
  }

  /** @param {Element} element */
  #resized(element) {
    const chart = this.#charts.get(element);
    if (chart?.drawn && !sameSize(element)) this.#mark(element, chart);
  }

  /** @param {Element} element @param {Chart} chart */
  #mark(element, chart) {
    chart.dirty = true;
    if (chart.near) this.#enqueue(element);
  }

  /** @param {Element} element */
  #enqueue(element) {
    this.#queue.add(element);
    if (this.#busy) return;
    this.#busy = true;
    requestAnimationFrame(() => this.#work());
  }

  /** What is in the window comes before what is only near it. */
  #next() {
    const far = (/** @type {Element} */ element) => this.#charts.get(element)?.far ?? 0;
    let next = null;
    for (const element of this.#queue) if (!next || far(element) < far(next)) next = element;
    return next;
  }

  async #work() {
    const element = this.#next();
    if (!element) {
      this.#busy = false;
      this.#waiting.splice(0).forEach((resolve) => resolve());
      return;
    }
    this.#queue.delete(element);
    const chart = this.#charts.get(element);
    if (chart?.near && chart.dirty) await this.#paint(element, chart).catch((error) => console.error(error));
    requestAnimationFrame(() => this.#work());
  }

  /** @param {Element} element @param {Chart} chart */
  async #paint(element, chart) {
    chart.dirty = false;
    const { data, layout, config } = chart.figure();
    const Plotly = await this.#plotlys.get(data);
    if (this.#charts.get(element) !== chart || !element.isConnected) return;
    chart.dirty ||= !chart.near;
    if (!chart.near) return; // scrolled away while Plotly was loaded
    if (chart.drawn && chart.drawn !== Plotly) chart.drawn.purge(element);
    const anew = chart.drawn !== Plotly;
    chart.drawn = Plotly;
    const size = { width: element.clientWidth, height: element.clientHeight };
    // Without a new revision, data that is the same leaves axes with ranges nobody has worked out.
    await Plotly.react(
      element,
      data,
      { ...size, ...layout, datarevision: ++this.#revision },
      { ...CONFIG, ...config },
    );
    if (anew) chart.ready?.(element);
  }

  /** @param {Element} element @param {Chart} chart */
  #purge(element, chart) {
    chart.drawn.purge(element);
    chart.drawn = null;
    chart.dirty = true;
  }
}

/** @param {any} element */
function sameSize(element) {
  const layout = element._fullLayout;
  return layout && layout.width === element.clientWidth && layout.height === element.clientHeight;
}
