// Two builds of Plotly: lines and bars come up with the small one in a third of the time; the whole is loaded
// when something else is to be drawn, and draws everything from then on.

const SMALL = new Set(["scatter", "bar", "pie"]);

export class Plotlys {
  #small;
  #whole;
  /** @type {Map<string, Promise<any>>} */
  #loaded = new Map();

  /** @param {{plotly: string, assets: string}} boot */
  constructor(boot) {
    this.#small = `${boot.assets}/vendor/plotly-basic.min.js`;
    this.#whole = boot.plotly;
  }

  /** Which build draws these traces. @param {{type?: string}[]} traces */
  address(traces) {
    return traces.every((trace) => SMALL.has(trace.type ?? "scatter")) ? this.#small : this.#whole;
  }

  /** A Plotly that draws these traces, loaded on first use. @param {{type?: string}[]} traces @returns {Promise<any>} */
  get(traces) {
    const address = this.#loaded.has(this.#whole) ? this.#whole : this.address(traces);
    const known = this.#loaded.get(address);
    if (known) return known;
    const loading = load(address);
    this.#loaded.set(address, loading);
    loading.catch(() => this.#loaded.delete(address)); // the next chart tries again
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
