// Plotly figure of a scalar over layers and steps.

import { hatchImages } from "../../components/hatching.js";

/** @typedef {import("../../core/types.js").App} App */

const RAMP = ["--ramp-1", "--ramp-2", "--ramp-3", "--ramp-4", "--ramp-5"];
const NOT_FINITE = "--bad";
const TAIL = 0.01; // share of the values at either end that does not stretch the colours

/**
 * @typedef {{layers: number[], step: ArrayLike<number>, mean: ArrayLike<number>,
 *   not_finite: ArrayLike<number>}} Grid
 */

/** Return the Plotly figure of a scalar as heat map of layer and step. @param {App} app @param {Grid} grid */
export function layerFigure(app, grid) {
  const { theme } = app;
  const columns = grid.step.length;
  const rows = grid.layers.map((_, row) =>
    Array.from({ length: columns }, (__, i) => grid.mean[row * columns + i]),
  );
  const [low, high] = colourRange(rows.flat());
  const bad = grid.layers.map(() => Array(columns).fill(null));
  for (const cell of Array.from(grid.not_finite)) bad[Math.floor(cell / columns)][cell % columns] = 1;
  const colours = RAMP.map((name, i) => [i / (RAMP.length - 1), theme.colour(name)]);
  const common = { type: "heatmap", x: grid.step, y: grid.layers, hoverongaps: false };
  return {
    data: [
      {
        ...common,
        z: rows,
        zmin: low,
        zmax: high,
        colorscale: colours,
        colorbar: { thickness: 8, outlinewidth: 0, nticks: 4 },
        hovertemplate: app.t("scalar.layers.cell"),
      },
      ...(grid.not_finite.length
        ? [
            {
              ...common,
              z: bad,
              colorscale: [0, 1].map((end) => [end, theme.colour(NOT_FINITE)]),
              showscale: false,
              hovertemplate: app.t("scalar.layers.cell_nan"),
            },
          ]
        : []),
    ],
    layout: {
      ...theme.plotly(),
      images: hatchImages(grid.step, grid.layers, grid.not_finite.length ? bad : [], theme.colour("--panel")),
      yaxis: theme.axis({ title: { text: app.t("scalar.layers.axis") }, nticks: 6 }),
      xaxis: theme.axis({ nticks: 6 }),
    },
  };
}

/**
 * Return the smallest and largest value without the outermost percent at either end.
 * @param {number[]} values
 * @returns {[number, number]}
 */
export function colourRange(values) {
  const ordered = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (!ordered.length) return [0, 1];
  const cut = Math.floor(ordered.length * TAIL);
  const [low, high] = [ordered[cut], ordered[ordered.length - 1 - cut]];
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}
