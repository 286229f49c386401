// Light and dark theme: the system's, until the user chooses; and the palette read from CSS.

import { COLOURS } from "./colours.js";
import { tell } from "./dom.js";
import { cookiePath } from "./i18n.js";

/** @typedef {"system" | "light" | "dark"} Choice */

const NEXT = /** @type {const} */ ({ system: "light", light: "dark", dark: "system" });

export class Theme {
  #root = document.documentElement;
  #system = matchMedia("(prefers-color-scheme: dark)");
  /** @type {Set<() => void>} */
  #callbacks = new Set();
  /**
   * Colours that were looked up since the theme was chosen: charts ask for hundreds.
   * @type {Map<string, string>}
   */
  #colours = new Map();

  constructor() {
    this.#system.addEventListener("change", () => this.#apply());
  }

  /** @returns {Choice} */
  chosen() {
    return /** @type {any} */ (
      /(?:^|; )mindinsight_theme=(light|dark)/.exec(document.cookie)?.[1] ?? "system"
    );
  }

  /** @param {Choice} choice */
  choose(choice) {
    const age = choice === "system" ? 0 : 31536000;
    document.cookie = `mindinsight_theme=${choice}; path=${cookiePath()}; max-age=${age}; samesite=lax`;
    this.#apply();
  }

  /** From the system's to light, dark, and back. */
  next() {
    this.choose(NEXT[this.chosen()]);
  }

  dark() {
    return this.#root.dataset.theme === "dark";
  }

  /** A colour of the design system as "#rrggbb". @param {string} variable "--text" */
  colour(variable) {
    const colour =
      this.#colours.get(variable) ?? getComputedStyle(this.#root).getPropertyValue(variable).trim();
    if (colour) this.#colours.set(variable, colour);
    return colour;
  }

  /** Called when colours have changed. @param {() => void} callback */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /**
   * What a Plotly layout needs to look like the page. Spread it first, then give other axes:
   * {...app.theme.plotly(), xaxis: app.theme.axis({title: {text: "step"}})}
   * @returns {Record<string, any>}
   */
  plotly() {
    return {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 11, color: this.colour("--muted") },
      margin: { l: 48, r: 12, t: 8, b: 32 },
      hoverlabel: {
        bgcolor: this.colour("--raised"),
        bordercolor: this.colour("--line"),
        font: { color: this.colour("--text") },
      },
      colorway: Array.from({ length: COLOURS }, (_, i) => this.colour(`--run-${i + 1}`)),
      xaxis: this.axis(),
      yaxis: this.axis(),
      showlegend: false,
      dragmode: "zoom",
    };
  }

  /** An axis in the page's colours. @param {Record<string, any>} [more] @returns {Record<string, any>} */
  axis(more = {}) {
    const line = this.colour("--line");
    return {
      gridcolor: this.colour("--grid"),
      linecolor: line,
      zerolinecolor: line,
      tickcolor: line,
      zeroline: false,
      automargin: true,
      ...more,
    };
  }

  /** Colours have changed, of the page or of the runs on it: all that is drawn has to be drawn again. */
  changed() {
    tell(this.#callbacks, undefined);
  }

  #apply() {
    this.#colours.clear();
    const choice = this.chosen();
    this.#root.dataset.theme = choice === "system" ? (this.#system.matches ? "dark" : "light") : choice;
    this.changed();
  }
}
