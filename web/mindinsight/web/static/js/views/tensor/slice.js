// A slice as a heat map, and the way through one that is larger than a window.

import { button } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { ramp } from "../../core/ramp.js";

/** @typedef {import("../../core/types.js").App} App */

const WINDOW = 200;
const TICKS = 8;
const MOST_WRITTEN = 400; // cells; in smaller ones there is no room for NaN in letters

/**
 * @param {App} app
 * @param {any} part answer of v2/tensor/slice
 * @param {(side: "top" | "left", by: number) => void} move
 */
export function pager(app, part, move) {
  const { t } = app;
  const [rows, columns] = part.window;
  const step = (/** @type {"top" | "left"} */ side, /** @type {number} */ by) => move(side, by * WINDOW);
  const where = t("tensor.window", {
    top: part.top,
    bottom: part.top + rows - 1,
    rows: part.rows,
    left: part.left,
    right: part.left + columns - 1,
    columns: part.columns,
  });
  return h(
    "div",
    { class: "row small" },
    h("span", { class: "grow" }, where),
    part.top > 0 && button("↑", () => step("top", -1), { "aria-label": t("tensor.up") }),
    part.top + rows < part.rows && button("↓", () => step("top", 1), { "aria-label": t("tensor.down") }),
    part.left > 0 && button("←", () => step("left", -1), { "aria-label": t("tensor.left") }),
    part.left + columns < part.columns &&
      button("→", () => step("left", 1), { "aria-label": t("tensor.right") }),
  );
}

/** @param {App} app @param {any} part */
export function sliceHeat(app, part) {
  const [rows, columns] = part.window;
  const z = Array.from({ length: rows }, (_, row) =>
    part.values.subarray(row * columns, (row + 1) * columns),
  );
  const bar = { thickness: 10, outlinewidth: 0, nticks: 6 };
  const trace = {
    type: "heatmap",
    z,
    x0: part.left,
    y0: part.top,
    colorscale: ramp(app),
    colorbar: bar,
    hovertemplate: "[%{y}, %{x}] %{z:.6g}<extra></extra>",
    hoverongaps: false,
  };
  return {
    data: [trace, ...strangeCells(app, part, z)],
    layout: {
      ...app.theme.plotly(),
      yaxis: numbered(app, rows, { autorange: "reversed" }),
      xaxis: numbered(app, columns, {}),
    },
  };
}

/**
 * What is not finite has no place on a scale of colours: its cells are filled with the colour of faults.
 * @param {App} app
 * @param {any} part
 * @param {Float64Array[]} z
 */
function strangeCells(app, part, z) {
  const cells = z.map((row) => Array.from(row, (value) => (Number.isFinite(value) ? NaN : 1)));
  if (!cells.some((row) => row.some(Number.isFinite))) return [];
  const text = z.map((row) =>
    Array.from(row, (value) => (Number.isFinite(value) ? "" : app.format.number(value))),
  );
  const bad = app.theme.colour("--bad");
  const written = cells.length * cells[0].length <= MOST_WRITTEN ? "%{text}" : "";
  return [
    {
      type: "heatmap",
      z: cells,
      x0: part.left,
      y0: part.top,
      text,
      texttemplate: written,
      textfont: { color: app.theme.colour("--panel") },
      colorscale: [
        [0, bad],
        [1, bad],
      ],
      showscale: false,
      hovertemplate: "[%{y}, %{x}] %{text}<extra></extra>",
      hoverongaps: false,
    },
  ];
}

/**
 * Marks at whole numbers only: there is no row one and a half.
 * @param {App} app
 * @param {number} count
 * @param {Record<string, any>} more
 */
function numbered(app, count, more) {
  return app.theme.axis(count <= TICKS ? { dtick: 1, ...more } : { nticks: TICKS, ...more });
}
