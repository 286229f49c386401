// Overview tile of scalars: the most important ones with curve, last and best value, and first non-finite
// value.

import { NON_FINITE_BADGE } from "../../components/hatching.js";
import { h, replace } from "../../core/dom.js";
import { middleCut } from "../../core/names.js";
import { bestEnd } from "../../components/runs/values.js";
import { tellingTags } from "./telling.js";
import { ticksFor } from "./ticks.js";

const DOT = 7; // px
const SHOWN = 6; // scalars
const LONGEST = 40; // characters of a tag

/** @type {import("../../core/types.js").TileKind} */
const scalarTile = {
  kind: "scalar",
  wide: true,
  begin(box, run) {
    const places = Array.from({ length: Math.min(SHOWN, run.kinds.scalar ?? 0) }, () =>
      h("div", { class: "mini" }),
    );
    replace(box, h("div", { class: "minis" }, places));
  },
  title: "nav.scalar",
  view: "scalar",
  has: (run) => Boolean(run.kinds.scalar),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/tags", { kind: "scalar", run: run.id }, { signal });
    const telling = tellingTags(
      tags.map((/** @type {{tag: string}} */ { tag }) => tag),
      SHOWN,
    );
    const answers = await Promise.all(
      telling.map((tag) => app.api.get("v2/scalar/series", { tag, run: run.id, px: 400 }, { signal })),
    );
    return (box) => {
      const minis = minisIn(app, box, telling);
      box.querySelector(".minis-more")?.remove();
      const more = tags.length - telling.length;
      if (more > 0) {
        const href = app.selection.linkOnly("scalar", run.id);
        box.append(
          h("p", { class: "small minis-more" }, h("a", { href }, app.t("scalar.tile.more", { n: more }))),
        );
      }
      answers.forEach(({ tag, series: [series] }) => {
        const mini = minis.get(tag);
        if (!mini || !series) return;
        const [steps, values] = [app.api.column(series.step), app.api.column(series.value)];
        replace(mini.figures, mini.name, ...numbers(app, tag, steps, values));
        app.charts.draw(mini.chart, () => figure(app, run.id, steps, values));
      });
    };
  },
};

/**
 * @typedef {Object} Mini a small chart with its figures
 * @property {HTMLElement} name
 * @property {HTMLElement} figures
 * @property {HTMLElement} chart
 */

/** Charts by their tile's box, to be drawn again. @type {WeakMap<HTMLElement, Map<string, Mini>>} */
const known = new WeakMap();

/**
 * Return the small charts of these tags. Existing ones stay.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} box
 * @param {string[]} tags
 * @returns {Map<string, Mini>}
 */
function minisIn(app, box, tags) {
  const before = known.get(box);
  if (before && [...before.keys()].join("\n") === tags.join("\n")) return before;
  app.charts.removeAll(box);
  const minis = new Map(
    tags.map((tag) => [
      tag,
      {
        name: h("span", { class: "mono ellipsis", title: tag }, middleCut(tag, LONGEST)),
        figures: h("p", { class: "figures" }),
        chart: h("div", { class: "chart", role: "img", "aria-label": tag }),
      },
    ]),
  );
  const elements = [...minis.values()].map(({ figures, chart }) =>
    h("div", { class: "mini" }, figures, chart),
  );
  replace(box, h("div", { class: "minis" }, elements));
  known.set(box, minis);
  return minis;
}

/**
 * Create the last and best value and the first non-finite one.
 * @param {import("../../core/types.js").App} app
 * @param {string} tag
 * @param {ArrayLike<number>} steps
 * @param {ArrayLike<number>} values
 */
function numbers(app, tag, steps, values) {
  const { number } = app.format;
  const finite = Array.from(values).filter(Number.isFinite);
  const end = bestEnd(tag);
  const broken = Array.from(values).findIndex((value) => !Number.isFinite(value));
  return [
    h("span", null, app.t("runs.part.last"), " ", h("b", null, number(values[values.length - 1]))),
    end && finite.length > 0
      ? h("span", null, app.t("runs.part.best"), " ", h("b", null, number(Math[end](...finite))))
      : null,
    broken >= 0
      ? h(
          "span",
          { class: NON_FINITE_BADGE },
          app.t("overview.broken", { value: number(values[broken]), step: steps[broken] }),
        )
      : null,
  ];
}

/**
 * Return the figure of a small chart.
 * @param {import("../../core/types.js").App} app
 * @param {string} run
 * @param {ArrayLike<number>} steps
 * @param {ArrayLike<number>} values
 */
export function figure(app, run, steps, values) {
  const layout = app.theme.plotly();
  const colour = app.selection.colour(run);
  const size = dots(values);
  // Room for dots would hold the line off the edges.
  const mode = size.some(Boolean) ? "lines+markers" : "lines";
  const yaxis = app.theme.axis(ticksFor("linear", [values]) ?? {}); // a small constant would look like 0
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
    layout: { ...layout, yaxis, margin: { l: 8, r: 8, t: 6, b: 8 }, dragmode: false },
  };
}

/**
 * Return the marker size of each value. Only a value without neighbours has a marker, because it has no line.
 * @param {ArrayLike<number>} values
 */
export function dots(values) {
  const none = (/** @type {number} */ i) => !Number.isFinite(values[i] ?? NaN);
  return Array.from(values, (_, i) => (none(i - 1) && none(i + 1) ? DOT : 0));
}

export const tiles = [scalarTile];
