// Layers mode: a heat map of layer and step for each scalar that many layers have. A click opens the layer's
// curve.

import { chartCard, plotArea } from "../../components/chart_card.js";
import { select } from "../../components/field.js";
import { NON_FINITE_BADGE } from "../../components/hatching.js";
import { h, replace } from "../../core/dom.js";
import { leaveAsIs } from "../../core/latest.js";
import { exactPattern } from "../../core/patterns.js";
import { layerFigure } from "./layer_figure.js";
import { layerStacks } from "./layer_tags.js";
import { emptyPart } from "./mode_view.js";

/** @typedef {import("./card.js").Page} Page */

/**
 * Create the Layers mode of the scalars page: a heat map for each scalar that many layers have.
 * @param {Page} page
 * @param {string[]} tags
 * @returns {import("./mode_view.js").Part}
 */
export function layersView(page, tags) {
  const { app } = page;
  const { t } = app;
  const stacks = layerStacks(tags);
  if (!stacks.length) return emptyPart({ title: t("scalar.layers.none"), text: t("scalar.layers.how") });
  app.charts.prepare("heatmap");
  const holders = new Set(stacks.flatMap((stack) => page.runsOf(stack.tags[0])));
  const runs = app.selection.runs().filter((run) => holders.has(run.id));
  const run = runs.find(({ id }) => id === page.options().baseline) ?? runs[0];
  const cards = stacks.map(({ stem, tags: members }) => new LayerCard(page, stem, members, run.id));
  const chooser = select({
    label: t("common.run"),
    options: runs.map(({ id, name }) => ({ value: id, label: name })),
    value: run.id,
    onchange: (id) => page.change({ baseline: id }),
  });
  const folded = stacks.reduce((sum, stack) => sum + stack.tags.length, 0);
  const head = h(
    "div",
    { class: "toolbar" },
    chooser,
    h("span", { class: "muted" }, t("scalar.layers.folded", { tags: folded, n: stacks.length })),
  );
  const load = () => cards.forEach((card) => card.box.load());
  return {
    element: h(
      "div",
      { class: "stack" },
      head,
      h(
        "div",
        { class: "cards" },
        cards.map((card) => card.element),
      ),
    ),
    load,
    update: (changed) => changed.includes(run.id) && load(),
    paint: () => cards.forEach((card) => card.paint()),
    end: () => cards.forEach((card) => card.box.end()),
  };
}

/** Card of one scalar over the layers. */
class LayerCard {
  /** @param {Page} page @param {string} stem @param {string[]} tags @param {string} run */
  constructor(page, stem, tags, run) {
    const { app } = page;
    this.page = page;
    this.stem = stem;
    this.run = run;
    /** @type {import("../../core/answers.js").LayerGrid | null} */
    this.grid = null;
    this.heat = plotArea(app.t("scalar.layers.heat", { tag: stem }));
    this.foot = h("div", { class: "row small muted" }, app.t("scalar.layers.n", { n: tags.length }));
    this.box = chartCard(app, {
      title: stem,
      plots: [this.heat],
      body: this.heat,
      foot: this.foot,
      load: () => this.fetch(),
    });
    this.element = this.box.element;
  }

  /** Request the values of all layers. */
  fetch() {
    const { api } = this.page.app;
    const px = Math.max(100, Math.min(300, Math.round((this.heat.clientWidth || 400) / 2)));
    const { run, stem } = this;
    return this.box.requests.ask(
      (signal) => api.columns("v2/scalar/layers", { run, stem, px }, { signal }),
      (grid) => {
        this.grid = grid;
        this.paint();
      },
      leaveAsIs,
    );
  }

  /** Draw the heat map. */
  paint() {
    const { page, grid } = this;
    if (!grid) return;
    const { app } = page;
    app.charts.draw(
      this.heat,
      () => layerFigure(app, grid),
      (plot) =>
        plot.on("plotly_click", (event) => {
          const tag = grid.tags[grid.layers.indexOf(event.points[0].y)];
          if (tag) page.change({ mode: "curves", filter: exactPattern(tag) });
        }),
    );
    const n = grid.not_finite.length;
    const bad = n ? h("span", { class: NON_FINITE_BADGE }, app.t("scalar.layers.nan", { n })) : null;
    replace(this.foot, app.t("scalar.layers.n", { n: grid.layers.length }), bad);
  }
}
