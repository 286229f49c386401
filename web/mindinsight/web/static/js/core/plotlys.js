// Three builds of Plotly, each of which draws all that the one before it draws. The smallest that will do is
// loaded: lines come up with it in a fifth of the time, maps with the next in a third. What is loaded is used
// for all it draws.

const LINES = ["scatter", "bar", "pie"];
const FLAT = [...LINES, "heatmap", "contour"];

/** @typedef {{address: string, draws: (type: string) => boolean}} Build */

export class Plotlys {
  /** @type {Build[]} smallest first */
  #builds;
  /** @type {Map<string, Promise<any>>} */
  #loaded = new Map();
  /** Addresses that were fetched ahead. @type {Set<string>} */
  #fetched = new Set();

  /** @param {{plotly: string, assets: string}} boot */
  constructor(boot) {
    const ours = (/** @type {string} */ name) => `${boot.assets}/vendor/plotly-${name}.min.js`;
    this.#builds = [
      { address: ours("basic"), draws: (type) => LINES.includes(type) },
      { address: ours("cartesian"), draws: (type) => FLAT.includes(type) },
      { address: boot.plotly, draws: () => true },
    ];
  }

  /** Those that draw these traces. @param {{type?: string}[]} traces */
  #able(traces) {
    return this.#builds
      .filter(({ draws }) => traces.every((trace) => draws(trace.type ?? "scatter")))
      .map(({ address }) => address);
  }

  /** Which build draws these traces. @param {{type?: string}[]} traces */
  address(traces) {
    return this.#able(traces)[0];
  }

  /**
   * Fetch what draws these traces when the line has nothing else to do, without running it.
   * @param {{type?: string}[]} traces
   */
  prefetch(traces) {
    const href = this.address(traces);
    if (this.#fetched.has(href) || this.#loaded.has(href)) return;
    this.#fetched.add(href);
    const link = Object.assign(document.createElement("link"), { rel: "prefetch", as: "script", href });
    requestIdleCallback(() => document.head.append(link));
  }

  /**
   * A Plotly that draws these traces, loaded on first use.
   * @param {{type?: string}[]} traces
   * @returns {Promise<any>}
   */
  get(traces) {
    const able = this.#able(traces);
    const source = able.findLast((address) => this.#loaded.has(address)) ?? able[0];
    const loaded = this.#loaded.get(source);
    if (loaded) return loaded;
    const loading = load(source);
    this.#loaded.set(source, loading);
    loading.catch(() => this.#loaded.delete(source)); // the next chart tries again
    return loading;
  }
}

/** @param {string} address @returns {Promise<any>} */
function load(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(/** @type {any} */ (window).Plotly);
    script.onerror = () => reject(new Error(`${address} could not be loaded`));
    document.head.append(script);
  });
}
