// Loader of Plotly's three builds. Each build draws everything the smaller ones draw. The smallest sufficient
// build is loaded, because lines then appear in a fifth of the time and heat maps in a third; a build that is
// loaded already is reused.

const LINES = ["scatter", "bar", "pie"];
const FLAT = [...LINES, "heatmap", "contour"];

/** @typedef {import("./types.js").Plotly} Plotly */
/** @typedef {{address: string, draws: (type: string) => boolean}} Build */

/** Loader of Plotly's builds, each when a chart first needs it. */
export class Plotlys {
  /** @type {Build[]} smallest first */
  #builds;
  /** @type {Map<string, Promise<Plotly>>} */
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

  /**
   * Return the addresses of the builds that can draw these traces, smallest first.
   * @param {{type?: string}[]} traces
   */
  #able(traces) {
    return this.#builds
      .filter(({ draws }) => traces.every((trace) => draws(trace.type ?? "scatter")))
      .map(({ address }) => address);
  }

  /**
   * Return the address of the smallest build that can draw these traces.
   * @param {{type?: string}[]} traces
   */
  address(traces) {
    return this.#able(traces)[0];
  }

  /**
   * Fetch the build for these traces when the browser is idle, without running it.
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
   * Return a Plotly that can draw these traces, loading it on first use. Rejects if it cannot be loaded; the
   * next call tries again.
   * @param {{type?: string}[]} traces
   * @returns {Promise<Plotly>}
   */
  get(traces) {
    /** Return the addresses of the builds that can draw these traces, smallest first. */
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

/** Load a script and return the Plotly it defines. @param {string} address @returns {Promise<Plotly>} */
function load(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () =>
      resolve(/** @type {Window & {Plotly: Plotly}} */ (/** @type {unknown} */ (window)).Plotly);
    script.onerror = () => reject(new Error(`${address} could not be loaded`));
    document.head.append(script);
  });
}
