// The drawing of a graph by Plotly over the page's own, for who wants Plotly's tools and its export.

import { h } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").App} App */

export class PlotlyView {
  /**
   * @param {App} app
   * @param {{ask: (path: string, params: Record<string, any>, signal: AbortSignal) => Promise<any>,
   *   select: (id: number) => void, failed: (error: any) => any}} actions
   */
  constructor(app, actions) {
    this.app = app;
    this.actions = actions;
    this.element = h("div", { class: "chart graph-plotly", hidden: true });
    this.requests = latest(this.element);
  }

  /** Another graph is on its way. */
  end() {
    this.requests.end();
  }

  /**
   * Draw what is open, or give way to the page's own drawing.
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
    /** @type {any} */ (this.element).on("plotly_click", (/** @type {any} */ event) => {
      const id = event.points[0]?.customdata;
      if (id !== undefined) this.actions.select(id);
    });
  };
}

/** A figure with Plotly's own tools. @param {any} figure */
function shown({ data, layout }) {
  return { data, layout: { ...layout, autosize: true }, config: { displayModeBar: true, scrollZoom: true } };
}
