// Overview tile of histograms: the distribution of a tag over the steps as a heat map.

import { h, replace } from "../../core/dom.js";
import { nonFiniteBadge } from "../../components/histogram/non_finite.js";
import { mainTag } from "../../components/main_tag.js";

/** @type {import("../../core/types.js").TileKind} */
const histogramTile = {
  kind: "histogram",
  title: "nav.histogram",
  view: "histogram",
  has: (run) => Boolean(run.kinds.histogram),
  async load(app, run, signal) {
    app.charts.prepare("heatmap");
    const { tags } = await app.api.get("v2/tags", { kind: "histogram", run: run.id }, { signal });
    const tag = mainTag(tags, /weight/i);
    const series = await app.api.get(
      "v2/histogram/series",
      { run: run.id, tag, columns: 60, bins: 40 },
      { signal },
    );
    return (box, figures) => {
      const edges = app.api.column(series.edges);
      const range = `${app.format.number(edges[0], 3)} … ${app.format.number(edges[edges.length - 1], 3)}`;
      replace(
        figures,
        h("span", { class: "mono ellipsis", title: tag }, tag),
        h("span", null, range),
        nonFiniteBadge(app, series.non_finite),
      );
      if (!box.querySelector(".chart")) {
        replace(box, h("div", { class: "chart", role: "img", "aria-label": tag }));
      }
      app.charts.draw(/** @type {Element} */ (box.querySelector(".chart")), () => figure(app, series, edges));
    };
  },
};

/**
 * Return the heat map.
 * @param {import("../../core/types.js").App} app
 * @param {{step: import("../../core/types.js").Column, counts: import("../../core/types.js").Column}} series
 * @param {ArrayLike<number>} edges
 */
function figure(app, series, edges) {
  const steps = Array.from(app.api.column(series.step));
  const counts = app.api.column(series.counts);
  const bins = edges.length - 1;
  const centres = Array.from({ length: bins }, (_, i) => (edges[i] + edges[i + 1]) / 2);
  const z = centres.map((_centre, bin) =>
    steps.map((_step, column) => Math.sqrt(counts[column * bins + bin])),
  );
  const layout = app.theme.plotly();
  return {
    data: [
      {
        type: "heatmap",
        x: steps,
        y: centres,
        z,
        showscale: false,
        colorscale: [
          [0, app.theme.colour("--panel")],
          [1, app.theme.colour("--accent")],
        ],
        hoverinfo: "none",
      },
    ],
    layout: { ...layout, margin: { l: 8, r: 8, t: 6, b: 8 }, dragmode: false },
  };
}

export const tiles = [histogramTile];
