// Scatter plot of any two columns, coloured by the objective, or by run without one.

import { select } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { inkRamp } from "./objective_colour.js";

/** @typedef {import("./axes.js").Column} Column */

/**
 * @param {import("../../core/types.js").App} app
 * @param {{columns: Column[], rows: () => import("./axes.js").Row[], objective: string, x: string, y: string,
 *   onchange: (x: string, y: string) => void, onpick: (run: string) => void}} options
 */
export function scatter(app, { columns, rows, objective, x, y, onchange, onpick }) {
  const numeric = columns.filter((column) => column.numeric);
  const options = numeric.map((column) => ({ value: column.key, label: column.label }));
  const numericKey = (/** @type {string} */ key, /** @type {number} */ otherwise) =>
    numeric.some((column) => column.key === key) ? key : (numeric[otherwise] ?? numeric[0])?.key;
  const [across, up] = [numericKey(x, 0), numericKey(y || objective, numeric.length - 1)];
  const plot = h("div", { class: "chart", role: "img", "aria-label": app.t("lineage.scatter") });
  const figure = () => {
    const visible = rows();
    const label = (/** @type {string} */ key) => columns.find((column) => column.key === key)?.label ?? "";
    const colour = visible.map((row) => Number(row.values[objective]));
    const marker = {
      size: 9,
      color: objective ? colour : visible.map((row) => app.selection.colour(row.run)),
      colorscale: inkRamp(app),
      showscale: Boolean(objective) && colour.some(Number.isFinite),
      colorbar: { thickness: 8, outlinewidth: 0 },
      line: { width: 1, color: app.theme.colour("--line-strong") },
    };
    const text = visible.map((row) => app.selection.run(row.run)?.name ?? row.run);
    return {
      data: [
        {
          type: "scatter",
          mode: "markers",
          x: visible.map((row) => row.values[across]),
          y: visible.map((row) => row.values[up]),
          text,
          customdata: visible.map((row) => row.run),
          marker,
          hovertemplate: "%{text}<br>%{x} · %{y}<extra></extra>",
        },
      ],
      layout: {
        ...app.theme.plotly(),
        xaxis: app.theme.axis({ title: { text: label(across) } }),
        yaxis: app.theme.axis({ title: { text: label(up) } }),
        hovermode: "closest",
      },
    };
  };
  const choose = h(
    "div",
    { class: "toolbar" },
    select({ label: "x", options, value: across, onchange: (value) => onchange(value, up) }),
    select({ label: "y", options, value: up, onchange: (value) => onchange(across, value) }),
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
      chart.on("plotly_click", (/** @type {any} */ event) => onpick(event.points[0].customdata)),
    );
  return { element, draw };
}
