// Heat map of a tensor's slice.

import { colourRange, ramp } from "../core/ramp.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {{values: ArrayLike<number>, window: number[], x: number[], y: number[]}} Map2d */

const TICKS = 8;
const MOST_WRITTEN = 400; // cells; in smaller ones there is no room for NaN in letters

/**
 * Return the Plotly figure of a slice as heat map. Values without a position on the colour scale, such as NaN
 * and outliers, have colours of their own.
 * @param {App} app
 * @param {Map2d} slice `x` and `y` are the numbers of its columns and rows
 */
export function sliceHeat(app, { values, window, x, y }) {
  const [rows, columns] = window;
  const z = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => values[row * columns + column]),
  );
  const range = colourRange(values);
  const trace = {
    type: "heatmap",
    z,
    x,
    y,
    colorscale: ramp(app),
    colorbar: { thickness: 10, outlinewidth: 0, nticks: 6 },
    hovertemplate: "[%{y}, %{x}] %{z:.6g}<extra></extra>",
    hoverongaps: false,
    ...(range?.beyond && { zmin: range.low, zmax: range.high }),
  };
  const infinite = (/** @type {number} */ value) => !Number.isFinite(value);
  const beyond = (/** @type {number} */ value) =>
    Number.isFinite(value) && range !== null && (value < range.low || value > range.high);
  return {
    data: [trace, ...ownCells(app, trace, infinite, "--bad"), ...ownCells(app, trace, beyond, "--warn")],
    layout: {
      ...app.theme.plotly(),
      yaxis: numbered(app, rows, { autorange: "reversed" }),
      xaxis: numbered(app, columns, {}),
    },
  };
}

/**
 * Return the trace of the cells that have a colour of their own; [] if there are none.
 * @param {App} app
 * @param {{x: number[], y: number[], z: number[][]}} trace
 * @param {(value: number) => boolean} has
 * @param {string} colour
 */
function ownCells(app, { x, y, z }, has, colour) {
  const cells = z.map((row) => row.map((value) => (has(value) ? 1 : NaN)));
  if (!z.some((row) => row.some(has))) return [];
  const own = app.theme.colour(colour);
  return [
    {
      type: "heatmap",
      z: cells,
      x,
      y,
      text: z.map((row) => row.map((value) => (has(value) ? app.format.number(value) : ""))),
      texttemplate: x.length * y.length <= MOST_WRITTEN ? "%{text}" : "",
      textfont: { color: app.theme.colour("--panel") },
      colorscale: [
        [0, own],
        [1, own],
      ],
      showscale: false,
      hovertemplate: "[%{y}, %{x}] %{text}<extra></extra>",
      hoverongaps: false,
    },
  ];
}

/**
 * Return an axis with ticks at whole numbers only.
 * @param {App} app
 * @param {number} count
 * @param {Record<string, unknown>} more
 */
function numbered(app, count, more) {
  return app.theme.axis(count <= TICKS ? { dtick: 1, ...more } : { nticks: TICKS, ...more });
}
