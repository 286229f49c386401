// Toolbars of the comparison: view, tools, and the choice of run and graph on each side.

import { segments } from "../../components/button.js";
import { h, renew, replace } from "../../core/dom.js";
import { chooser } from "./chooser.js";
import { NAMES, SIDES } from "./pair_requests.js";
import { drawingTools } from "./tools.js";

/** @typedef {0 | 1} Side */

/** Toolbars above the drawings of two graphs. */
export class PairBar {
  /** @param {import("./pair_page.js").TwoGraphs} page */
  constructor(page) {
    this.page = page;
    this.tools = h("div", { class: "toolbar" });
    this.choosers = SIDES.map(() => h("div", { class: "toolbar" }));
  }

  /** Draw all toolbars. */
  draw() {
    const { page } = this;
    const { t } = page.app;
    const views = segments({
      label: t("graph.view"),
      value: page.state.view,
      options: page.pair.views().map((value) => ({ value, label: t(`graph.view.${value}`) })),
      onchange: (view) => page.change(() => (page.state.view = view)),
    });
    const tools = drawingTools(page.app, page.root, {
      drawings: () => SIDES.map((side) => this.downloadable(side)),
      reset: () => page.change(() => undefined),
    });
    replace(this.tools, page.modes(), views, h("span", { class: "grow" }), tools);
    this.choose();
  }

  /** Draw the choice of run and graph on each side. */
  choose() {
    const { app, runs, state, pair } = this.page;
    for (const side of SIDES) {
      const current = { ...state.sides[side], view: state.view };
      const change = (/** @type {{run?: string, tag?: string}} */ changes) =>
        this.page.change(() => Object.assign(state.sides[side], changes));
      renew(this.choosers[side], chooser(app, runs, current, pair.graphs[side], change));
    }
  }

  /**
   * Return what can be downloaded of one side.
   * @param {Side} side
   * @returns {import("./downloads.js").Drawing} what can be downloaded
   */
  downloadable(side) {
    const { app, canvases, state } = this.page;
    const { sides, view } = state;
    const name = `${view === "dataset" ? "dataset" : sides[side].tag}-${view}-${NAMES[side]}`;
    return { title: app.t(`graph.${NAMES[side]}`), name, canvas: canvases[side] };
  }
}
