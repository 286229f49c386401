// Plotly, used sparingly: a chart is drawn when it is seen, one per frame, and taken down when far away.

/** @typedef {{data: any[], layout: Record<string, any>, config?: Record<string, any>}} Figure */
/** @typedef {{figure: () => Figure, near: boolean, dirty: boolean, drawn: boolean, ready?: (plot: any) => void}} Chart */

const CONFIG = { displayModeBar: false, displaylogo: false, responsive: false, doubleClick: "reset", showTips: false };
const NEAR = "400px 0px"; // how far outside the window a chart is drawn already

export class Charts {
  #address;
  /** @type {Map<Element, Chart>} */
  #charts = new Map();
  /** @type {Set<Element>} */
  #queue = new Set();
  /** @type {Promise<any> | null} */
  #loading = null;
  #busy = false;
  #revision = 0;
  /** @type {(() => void)[]} */
  #waiting = [];
  #seen = new IntersectionObserver((entries) => entries.forEach((entry) => this.#moved(entry)), { rootMargin: NEAR });
  #sized = new ResizeObserver((entries) => entries.forEach(({ target }) => this.#resized(target)));

  /**
   * @param {{plotly: string}} boot
   * @param {import("./theme.js").Theme} theme
   */
  constructor(boot, theme) {
    this.#address = boot.plotly;
    theme.on(() => this.#charts.forEach((chart, element) => this.#mark(element, chart)));
  }

  /** Plotly itself, loaded on first use. @returns {Promise<any>} */
  plotly() {
    this.#loading ??= load(this.#address);
    return this.#loading;
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
    this.#charts.set(element, { figure, near: false, dirty: true, drawn: false, ready });
    this.#seen.observe(element);
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
    this.#seen.unobserve(element);
    this.#sized.unobserve(element);
    if (chart.drawn) this.plotly().then((Plotly) => Plotly.purge(element));
  }

  /** Everything inside an element that is going away. @param {Element} root */
  removeAll(root) {
    for (const element of [...this.#charts.keys()]) {
      if (root.contains(element)) this.remove(element);
    }
  }

  /** What a chart shows, drawn or not; null for an element that is none. @param {Element} element @returns {Figure | null} */
  figure(element) {
    return this.#charts.get(element)?.figure() ?? null;
  }

  /** When all that is to be drawn now has been. @returns {Promise<void>} */
  drawn() {
    return this.#busy ? new Promise((done) => this.#waiting.push(done)) : Promise.resolve();
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

  async #work() {
    const [element] = this.#queue;
    if (!element) {
      this.#busy = false;
      this.#waiting.splice(0).forEach((done) => done());
      return;
    }
    this.#queue.delete(element);
    const chart = this.#charts.get(element);
    if (chart?.near && chart.dirty) await this.#paint(element, chart);
    requestAnimationFrame(() => this.#work());
  }

  /** @param {Element} element @param {Chart} chart */
  async #paint(element, chart) {
    const Plotly = await this.plotly();
    if (this.#charts.get(element) !== chart || !element.isConnected) return;
    const anew = !chart.drawn;
    chart.dirty = false;
    chart.drawn = true;
    const { data, layout, config } = chart.figure();
    const size = { width: element.clientWidth, height: element.clientHeight };
    // Without a new revision, data that is the same leaves axes with ranges nobody has worked out.
    await Plotly.react(element, data, { ...size, ...layout, datarevision: ++this.#revision }, { ...CONFIG, ...config });
    if (anew) chart.ready?.(element);
  }

  /** @param {Element} element @param {Chart} chart */
  #purge(element, chart) {
    chart.drawn = false;
    chart.dirty = true;
    this.plotly().then((Plotly) => !chart.drawn && Plotly.purge(element));
  }
}

/** @param {any} element */
function sameSize(element) {
  const layout = element._fullLayout;
  return layout && layout.width === element.clientWidth && layout.height === element.clientHeight;
}

/** @param {string} address @returns {Promise<any>} */
function load(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(/** @type {any} */ (window).Plotly);
    script.onerror = () => reject(new Error("plotly.min.js could not be loaded"));
    document.head.append(script);
  });
}
