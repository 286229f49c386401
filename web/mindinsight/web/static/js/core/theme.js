// Light and dark theme, by the system's setting or the user's choice, and colours read from CSS.

import { COLOURS } from "./colours.js";
import { tell } from "./dom.js";
import { cookiePath } from "./i18n.js";

/** @typedef {"system" | "light" | "dark"} Choice */

const NEXT = /** @type {const} */ ({ system: "light", light: "dark", dark: "system" });

/** Current theme and its colours. */
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

  /** Return the user's choice; "system" if none was made. @returns {Choice} */
  chosen() {
    const choice = /(?:^|; )mindinsight_theme=(light|dark)/.exec(document.cookie)?.[1];
    return choice === "light" || choice === "dark" ? choice : "system";
  }

  /** Apply a theme and store the choice in a cookie. @param {Choice} choice */
  choose(choice) {
    const age = choice === "system" ? 0 : 31536000;
    document.cookie = `mindinsight_theme=${choice}; path=${cookiePath()}; max-age=${age}; samesite=lax`;
    this.#apply();
  }

  /** Switch from the system's theme to light, to dark, and back. */
  next() {
    this.choose(NEXT[this.chosen()]);
  }

  /** Return whether the dark theme is on. */
  dark() {
    return this.#root.dataset.theme === "dark";
  }

  /** Return a CSS variable's colour as "#rrggbb". @param {string} variable "--text" */
  colour(variable) {
    const colour =
      this.#colours.get(variable) ?? getComputedStyle(this.#root).getPropertyValue(variable).trim();
    if (colour) this.#colours.set(variable, colour);
    return colour;
  }

  /** Subscribe to changes of colours. Return a function that unsubscribes. @param {() => void} callback */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /**
   * Return the base of a Plotly layout in the theme's colours. Spread it first: {...app.theme.plotly(),
   * xaxis: app.theme.axis({title: {text: "step"}})}.
   * @returns {import("./types.js").PlotlyLayout & {margin: object, font: object}}
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

  /**
   * Return a Plotly axis in the theme's colours, extended by `more`.
   * @param {Record<string, unknown>} [more]
   * @returns {import("./types.js").PlotlyAxis}
   */
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

  /** Tell subscribers that colours of the theme or of runs have changed. */
  changed() {
    tell(this.#callbacks, undefined);
  }

  /** Apply the chosen theme to the page. */
  #apply() {
    this.#colours.clear();
    const choice = this.chosen();
    this.#root.dataset.theme = choice === "system" ? (this.#system.matches ? "dark" : "light") : choice;
    this.changed();
  }
}
