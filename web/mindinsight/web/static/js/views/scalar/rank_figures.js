// Plotly figures of a job's ranks, and the legend of their colours.

import { hatchImages, hatchKey } from "../../components/hatching.js";
import { h } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { folded, notFiniteRows } from "./rank_distance.js";
import { AROUND, RANGE, bandSheet, bandTraces, faint, lineOn } from "./band.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./card.js").Page} Page */
/** @typedef {import("./curve.js").Curve & {label: string}} RankCurve */
/**
 * Ranks × steps with the distance of each cell from the median, and the distance that is usual.
 * @typedef {import("../../core/answers.js").RankGrid & {away: Float32Array, most: number}} Grid
 */

const ROW = 2; // px of a row of the heat map at least
const TICKS = 6; // rows at most that have their ranks beside them
const NOT_FINITE = "--warn";
const SCALE = ["--run-1", "--panel", "--bad"]; // below the median, on it, above it

/**
 * Return the figure of the median, the middle half and the range of all ranks, with the curve of one rank.
 * @param {Page} page
 * @param {import("../../core/answers.js").GroupBand} summary
 * @param {RankCurve | null} rank
 */
export function bandFigure(page, summary, rank) {
  const { app } = page;
  const { theme } = app;
  const { to, layout } = bandSheet(page, [summary]);
  const data = bandTraces({
    band: summary,
    line: summary.median,
    around: [summary.lower, summary.upper],
    colour: theme.colour("--accent"),
    label: app.t("scalar.ranks.median"),
    to,
  });
  if (rank) {
    data.push({
      ...lineOn(rank.step, rank.value, to),
      name: rank.label,
      line: { color: theme.colour("--bad"), width: 1.6 },
    });
  }
  return { data, layout, sketch: true };
}

/**
 * Return the Plotly figure of a job's ranks as heat map: the distance from the median of each step.
 * @param {App} app
 * @param {Grid} grid
 * @param {number} height px there are
 */
export function heatFigure(app, grid, height) {
  const { theme } = app;
  const [columns, rows] = [grid.step.length, Math.floor(height / ROW)];
  const { names, z, rankOf } = folded(grid.away, grid.ranks, columns, rows);
  const y = names.map((_, row) => row); // rows of one height are drawn in a tenth of the time
  const named = y.filter((row) => row % Math.ceil(names.length / TICKS) === 0);
  const bad = notFiniteRows(grid.not_finite, grid.ranks.length, columns, rows);
  const colours = SCALE.map((name, i) => [i / 2, theme.colour(name)]);
  const strange = {
    type: "heatmap",
    x: grid.step,
    y,
    z: bad,
    customdata: rankOf,
    colorscale: [0, 1].map((end) => [end, theme.colour(NOT_FINITE)]),
    showscale: false,
    hovertemplate: app.t("scalar.ranks.cell_nan"),
    hoverongaps: false,
  };
  return {
    data: [
      {
        type: "heatmap",
        x: grid.step,
        y,
        z,
        customdata: rankOf,
        zmin: -grid.most,
        zmax: grid.most,
        colorscale: colours,
        showscale: false,
        hovertemplate: app.t("scalar.ranks.cell"),
        hoverongaps: false,
      },
      ...(grid.not_finite.length ? [strange] : []),
    ],
    layout: {
      ...theme.plotly(),
      images: hatchImages(grid.step, y, grid.not_finite.length ? bad : [], theme.colour("--panel")),
      yaxis: theme.axis({
        title: { text: app.t("scalar.ranks.axis") },
        tickvals: named,
        ticktext: named.map((row) => names[row]),
      }),
      xaxis: theme.axis({ nticks: 6 }),
    },
  };
}

/** Create the legend of the band. @param {App} app */
export function bandKey({ t, theme }) {
  const colour = theme.colour("--accent");
  const area = (/** @type {string} */ shade) => h("i", { class: "area", style: { background: shade } });
  const entries = /** @type {const} */ ([
    ["median", h("i", { class: "line", style: { background: colour } })],
    ["half", area(faint(colour, RANGE + AROUND))],
    ["range", area(faint(colour, RANGE))],
  ]);
  return entries.map(([name, mark]) => h("span", { class: "row" }, mark, t(`scalar.ranks.${name}`)));
}

/**
 * Create the legend of the heat map. Plotly's own colour bar costs half of the drawing time.
 * @param {App} app
 * @param {number} most
 * @param {boolean} notFinite whether there are values that are not finite
 */
export function scaleKey(app, most, notFinite) {
  const bar = h("i", {
    style: { background: `linear-gradient(to right, ${SCALE.map((name) => `var(${name})`).join(", ")})` },
  });
  return [
    h("span", null, app.t("scalar.ranks.key")),
    h("span", { class: "grow" }),
    h("span", { class: "row" }, number(-most, 3), bar, `+${number(most, 3)}`),
    notFinite && [
      h("i", { style: { background: hatchKey(NOT_FINITE, "--panel"), width: "14px" } }),
      h("span", null, app.t("scalar.ranks.nan")),
    ],
  ];
}
