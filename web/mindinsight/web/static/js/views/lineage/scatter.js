// Scatter plot of two columns, or matrix of all that matter, coloured by the objective or by run.

import { check, select } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { inkRamp } from "../../components/objective_colour.js";
import { columnNumbers } from "./columns.js";
import { matrixColumns, matrixFigure } from "./scatter_matrix.js";

/** @typedef {import("./axes.js").Column} Column */

/**
 * Create the scatter plot of two columns, or the matrix of all that matter, with its controls. `draw()` draws
 * it.
 * @param {import("../../core/types.js").App} app
 * @param {{columns: Column[], rows: () => import("./axes.js").Row[], objective: string, x: string, y: string,
 *   pruned: Set<string | null>, importance: {key: string}[], matrix: boolean,
 *   onmatrix: (on: boolean) => void, onchange: (x: string, y: string) => void,
 *   onpick: (run: string) => void, logs: Set<string>}} options `logs`: keys of logarithmic axes;
 *   `pruned`: runs whose points are grey
 */
export function scatter(app, options) {
  const { columns, rows, objective, x, y, importance, logs, matrix, pruned } = options;
  const { onmatrix, onchange, onpick } = options;
  const numeric = columns.filter((column) => column.numeric);
  const choices = numeric.map((column) => ({ value: column.key, label: column.label }));
  const numericKey = (/** @type {string} */ key, /** @type {number} */ otherwise) =>
    numeric.some((column) => column.key === key) ? key : (numeric[otherwise] ?? numeric[0])?.key;
  const [across, up] = [numericKey(x, 0), numericKey(y || objective, numeric.length - 1)];
  const plot = h("div", {
    class: matrix ? "chart matrix" : "chart",
    role: "img",
    "aria-label": app.t("lineage.scatter"),
  });
  const figure = () => {
    const [complete, grey] = [false, true].map((cut) => {
      const visible = rows().filter(({ run }) => pruned.has(run) === cut);
      const marker = cut ? greyMarkers(app) : markers(app, visible, objective);
      return matrix
        ? matrixFigure(app, matrixColumns(columns, importance, objective), visible, logs, marker)
        : pairFigure(app, columns, visible, [across, up], logs, marker);
    });
    return grey.data[0]?.x.length ? { ...complete, data: [...grey.data, ...complete.data] } : complete;
  };
  const choose = h(
    "div",
    { class: "toolbar" },
    check({ label: app.t("lineage.matrix"), checked: matrix, onchange: onmatrix }),
    !matrix &&
      select({ label: "x", options: choices, value: across, onchange: (value) => onchange(value, up) }),
    !matrix &&
      select({ label: "y", options: choices, value: up, onchange: (value) => onchange(across, value) }),
  );
  const element = h(
    "div",
    { class: "panel" },
    h("h2", { class: "panel-title" }, app.t("lineage.scatter")),
    choose,
    plot,
  );
  const draw = () =>
    app.charts.draw(plot, figure, (chart) =>
      chart.on("plotly_click", (event) => onpick(String(event.points[0].customdata))),
    );
  return { element, draw };
}

/** Return Plotly's markers for pruned trials. @param {import("../../core/types.js").App} app */
function greyMarkers({ theme }) {
  return { size: 9, color: theme.colour("--line-strong") };
}

/**
 * Return Plotly's markers for the rows.
 * @param {import("../../core/types.js").App} app
 * @param {import("./axes.js").Row[]} rows
 * @param {string} objective
 */
function markers(app, rows, objective) {
  const colour = rows.map((row) => Number(row.values[objective]));
  return {
    size: 9,
    color: objective ? colour : rows.map((row) => app.selection.colour(row.run)),
    colorscale: inkRamp(app),
    showscale: Boolean(objective) && colour.some(Number.isFinite),
    colorbar: { thickness: 8, outlinewidth: 0 },
    line: { width: 1, color: app.theme.colour("--line-strong") },
  };
}

/**
 * Return the figure of two columns.
 * @param {import("../../core/types.js").App} app
 * @param {Column[]} columns
 * @param {import("./axes.js").Row[]} rows
 * @param {[string, string]} keys of the columns across and up
 * @param {Set<string>} logs keys of logarithmic axes
 * @param {Record<string, unknown>} marker
 */
function pairFigure(app, columns, rows, [across, up], logs, marker) {
  const axis = (/** @type {string} */ key) =>
    app.theme.axis({
      title: { text: label(key) },
      type: logs.has(key) ? "log" : "linear",
      exponentformat: "power",
    });
  const label = (/** @type {string} */ key) => columns.find((column) => column.key === key)?.label ?? "";
  return {
    data: [
      {
        type: "scatter",
        mode: "markers",
        x: columnNumbers(rows, across),
        y: columnNumbers(rows, up),
        text: rows.map((row) => app.selection.run(row.run)?.name ?? row.run),
        customdata: rows.map((row) => row.run),
        marker,
        hovertemplate: "%{text}<br>%{x} · %{y}<extra></extra>",
      },
    ],
    layout: {
      ...app.theme.plotly(),
      xaxis: axis(across),
      yaxis: axis(up),
      hovermode: "closest",
      showlegend: false,
    },
  };
}
