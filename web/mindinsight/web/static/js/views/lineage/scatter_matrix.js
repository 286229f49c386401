// Scatter matrix: every pair of the objective and the most important settings.

import { SEED } from "../../core/run_traits.js";
import { columnNumbers } from "./columns.js";

/** @typedef {import("./axes.js").Column} Column */
/** @typedef {import("./axes.js").Row} Row */

const MOST = 5; // columns
const GAP = 0.03; // share of the picture between two cells

/**
 * Return the columns of the matrix: the most important numeric settings, then the objective.
 * @param {Column[]} columns
 * @param {{key: string}[]} importance largest first
 * @param {string} objective
 */
export function matrixColumns(columns, importance, objective) {
  const numeric = columns.filter(({ key, numeric: counted }) => counted && !SEED.test(key));
  const place = new Map(importance.map(({ key }, number) => [key, number]));
  const settings = numeric.filter((column) => place.has(column.key) && column.key !== objective);
  settings.sort((a, b) => (place.get(a.key) ?? 0) - (place.get(b.key) ?? 0));
  return [...settings.slice(0, MOST - 1), ...numeric.filter((column) => column.key === objective)];
}

/**
 * Return the Plotly figure of the scatter matrix, with one trace for each pair of columns.
 * @param {import("../../core/types.js").App} app
 * @param {Column[]} columns
 * @param {Row[]} rows
 * @param {Set<string>} logs keys of logarithmic axes
 * @param {Record<string, unknown>} marker of all points
 */
export function matrixFigure(app, columns, rows, logs, marker) {
  const text = rows.map((row) => app.selection.run(row.run)?.name ?? row.run);
  const customdata = rows.map((row) => row.run);
  const numbers = (/** @type {Column} */ column) => columnNumbers(rows, column.key);
  /** @type {Record<string, unknown>} */
  const layout = { ...app.theme.plotly(), hovermode: "closest", showlegend: false };
  columns.forEach((column, at) => {
    const number = at ? at + 1 : "";
    const type = logs.has(column.key) ? "log" : "linear";
    const axis = { type, title: { text: column.label }, nticks: 4 };
    layout[`xaxis${number}`] = app.theme.axis({
      ...axis,
      domain: domain(at, columns.length),
      anchor: `y${columns.length > 1 ? columns.length : ""}`, // below the last row
    });
    layout[`yaxis${number}`] = app.theme.axis({
      ...axis,
      domain: domain(columns.length - 1 - at, columns.length),
    });
  });
  const pairs = columns.flatMap((_, up) => columns.map((__, across) => [across, up]));
  const data = pairs
    .filter(([across, up]) => across !== up)
    .map(([across, up]) => ({
      type: "scatter",
      mode: "markers",
      x: numbers(columns[across]),
      y: numbers(columns[up]),
      xaxis: `x${across ? across + 1 : ""}`,
      yaxis: `y${up ? up + 1 : ""}`,
      text,
      customdata,
      marker: { ...marker, size: 6, showscale: false },
      hovertemplate: "%{text}<br>%{x} · %{y}<extra></extra>",
    }));
  return { data, layout };
}

/** Return the part of the plot that one cell takes. @param {number} at @param {number} count */
function domain(at, count) {
  const size = (1 - GAP * (count - 1)) / count;
  return [at * (size + GAP), at * (size + GAP) + size];
}
