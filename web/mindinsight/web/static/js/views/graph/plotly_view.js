// Plotly's drawing of a graph over the page's own, for Plotly's tools and export.

import { h } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

/** @typedef {import("../../core/answers.js").Ask} Ask */
/** @typedef {import("../../core/charts.js").Figure} Figure */
/** @typedef {import("../../core/types.js").Plot} Plot */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */

/** Plotly's drawing of a graph, shown over the page's own. */
export class PlotlyView {
  /**
   * @param {App} app
   * @param {{ask: Ask,
   *   select: (id: number) => void, failed: (error: Failure) => unknown}} actions
   */
  constructor(app, actions) {
    this.app = app;
    this.actions = actions;
    this.element = h("div", { class: "chart graph-plotly", hidden: true });
    this.requests = latest(this.element);
  }

  /** Drop the request in flight. */
  end() {
    this.requests.end();
  }

  /**
   * Draw the open scopes with Plotly, or hide this drawing.
   * @param {import("./single_state.js").State} state
   */
  show({ plotly, scopes, flat }) {
    this.element.hidden = !plotly;
    if (!plotly) {
      this.app.charts.remove(this.element);
      return this.end();
    }
    const theme = document.documentElement.dataset.theme;
    return this.requests.ask(
      (signal) =>
        this.actions.ask("v2/graph/figure", { open: scopes, flat: flat.join(",") || null, theme }, signal),
      (figure) => this.app.charts.draw(this.element, () => shown(figure), this.#clickable),
      this.actions.failed,
    );
  }

  /** A click on a box selects it. */
  #clickable = () => {
    /** @type {Plot} */ (/** @type {HTMLElement} */ (this.element)).on("plotly_click", (event) => {
      const id = event.points[0]?.customdata;
      if (typeof id === "number") this.actions.select(id);
    });
  };
}

/** Return a figure with Plotly's own tools switched on. @param {Figure} figure */
function shown({ data, layout }) {
  return { data, layout: { ...layout, autosize: true }, config: { displayModeBar: true, scrollZoom: true } };
}
