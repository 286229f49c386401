// Heat map of a slice, and the pager of a slice that is larger than the window.

import { button } from "../../components/button.js";
import { windowText } from "../../components/slice_window.js";
import { h } from "../../core/dom.js";
import { ramp } from "../../core/ramp.js";

/** @typedef {import("../../core/answers.js").TensorSlice} TensorSlice */
/** @typedef {import("../../core/types.js").App} App */

const WINDOW = 200;
const TICKS = 8;
const MOST_WRITTEN = 400; // cells; in smaller ones there is no room for NaN in letters

/**
 * Create the position of the window with buttons that move it.
 * @param {App} app
 * @param {TensorSlice} slice
 * @param {(side: "top" | "left", by: number) => void} move
 */
export function pager(app, slice, move) {
  const { t } = app;
  const [rows, columns] = slice.window;
  const step = (/** @type {"top" | "left"} */ side, /** @type {number} */ by) => move(side, by * WINDOW);
  const position = windowText(app, slice);
  return h(
    "div",
    { class: "row small" },
    h("span", { class: "grow" }, position),
    slice.top > 0 && button("↑", () => step("top", -1), { "aria-label": t("tensor.up") }),
    slice.top + rows < slice.rows && button("↓", () => step("top", 1), { "aria-label": t("tensor.down") }),
    slice.left > 0 && button("←", () => step("left", -1), { "aria-label": t("tensor.left") }),
    slice.left + columns < slice.columns &&
      button("→", () => step("left", 1), { "aria-label": t("tensor.right") }),
  );
}

/** Return the Plotly figure of a tensor's slice as heat map. @param {App} app @param {TensorSlice} slice */
export function sliceHeat(app, slice) {
  const [rows, columns] = slice.window;
  const z = Array.from({ length: rows }, (_, row) =>
    slice.values.subarray(row * columns, (row + 1) * columns),
  );
  const bar = { thickness: 10, outlinewidth: 0, nticks: 6 };
  const trace = {
    type: "heatmap",
    z,
    x0: slice.left,
    y0: slice.top,
    colorscale: ramp(app),
    colorbar: bar,
    hovertemplate: "[%{y}, %{x}] %{z:.6g}<extra></extra>",
    hoverongaps: false,
  };
  return {
    data: [trace, ...strangeCells(app, slice, z)],
    layout: {
      ...app.theme.plotly(),
      yaxis: numbered(app, rows, { autorange: "reversed" }),
      xaxis: numbered(app, columns, {}),
    },
  };
}

/**
 * Return the trace of non-finite cells, which have no place on the colour scale; [] if there are none.
 * @param {App} app
 * @param {TensorSlice} slice
 * @param {ArrayLike<number>[]} z
 */
function strangeCells(app, slice, z) {
  const cells = z.map((row) => Array.from(row, (value) => (Number.isFinite(value) ? NaN : 1)));
  if (!cells.some((row) => row.some(Number.isFinite))) return [];
  const text = z.map((row) =>
    Array.from(row, (value) => (Number.isFinite(value) ? "" : app.format.number(value))),
  );
  const bad = app.theme.colour("--bad");
  const template = cells.length * cells[0].length <= MOST_WRITTEN ? "%{text}" : "";
  return [
    {
      type: "heatmap",
      z: cells,
      x0: slice.left,
      y0: slice.top,
      text,
      texttemplate: template,
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
 * Return an axis with ticks at whole numbers only.
 * @param {App} app
 * @param {number} count
 * @param {Record<string, unknown>} more
 */
function numbered(app, count, more) {
  return app.theme.axis(count <= TICKS ? { dtick: 1, ...more } : { nticks: TICKS, ...more });
}
