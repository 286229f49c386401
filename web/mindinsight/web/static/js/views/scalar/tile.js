// Overview tile of scalars: the loss (or the first scalar), its last and best value, and its first NaN.

import { h, replace } from "../../core/dom.js";
import { bestEnd } from "../runs/values.js";
import { mainTag } from "../../components/main_tag.js";

const DOT = 7; // px

/** @type {import("../overview/tiles.js").TileKind} */
const scalarTile = {
  kind: "scalar",
  title: "nav.scalar",
  view: "scalar",
  has: (run) => Boolean(run.kinds.scalar),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/tags", { kind: "scalar", run: run.id }, { signal });
    const tag = mainTag(tags, /loss/i);
    const answer = await app.api.get("v2/scalar/series", { tag, run: run.id, px: 400 }, { signal });
    return (box, figures) => {
      const [series] = answer.series;
      const steps = app.api.column(series.step);
      const values = app.api.column(series.value);
      replace(
        figures,
        h("span", { class: "mono ellipsis", title: tag }, tag),
        ...numbers(app, tag, steps, values),
      );
      if (!box.querySelector(".chart")) {
        replace(box, h("div", { class: "chart", role: "img", "aria-label": tag }));
      }
      const chart = /** @type {Element} */ (box.querySelector(".chart"));
      app.charts.draw(chart, () => figure(app, run.id, steps, values));
    };
  },
};

/**
 * @param {import("../../core/types.js").App} app
 * @param {string} tag
 * @param {ArrayLike<number>} steps
 * @param {ArrayLike<number>} values
 */
function numbers(app, tag, steps, values) {
  const { number } = app.format;
  const finite = Array.from(values).filter(Number.isFinite);
  const best = finite.length ? Math[bestEnd(tag)](...finite) : undefined;
  const broken = Array.from(values).findIndex((value) => !Number.isFinite(value));
  return [
    h("span", null, app.t("runs.part.last"), " ", h("b", null, number(values[values.length - 1]))),
    h("span", null, app.t("runs.part.best"), " ", h("b", null, number(best))),
    broken >= 0
      ? h(
          "span",
          { class: "badge bad" },
          app.t("overview.broken", { value: number(values[broken]), step: steps[broken] }),
        )
      : null,
  ];
}

/**
 * @param {import("../../core/types.js").App} app
 * @param {string} run
 * @param {any} steps
 * @param {any} values
 */
function figure(app, run, steps, values) {
  const layout = app.theme.plotly();
  const colour = app.selection.colour(run);
  const size = dots(values);
  // Room for dots would hold the line off the edges.
  const mode = size.some(Boolean) ? "lines+markers" : "lines";
  return {
    data: [
      {
        type: "scatter",
        mode,
        x: steps,
        y: values,
        marker: { size, color: colour },
        line: { color: colour, width: 1.8 },
        hovertemplate: "%{x}: %{y}<extra></extra>",
      },
    ],
    layout: { ...layout, margin: { l: 8, r: 8, t: 6, b: 8 }, dragmode: false },
  };
}

/** The size of a dot at each value: one with none beside it is no line. @param {ArrayLike<number>} values */
export function dots(values) {
  const none = (/** @type {number} */ i) => !Number.isFinite(values[i] ?? NaN);
  return Array.from(values, (_, i) => (none(i - 1) && none(i + 1) ? DOT : 0));
}

export const tiles = [scalarTile];
