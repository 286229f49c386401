// A loss landscape as lines of equal loss, as a filled map, or as a surface; the path of training on it.

import { ramp } from "../../core/ramp.js";
import { inkRamp } from "../lineage/objective_colour.js";

/** @typedef {import("../../core/types.js").App} App */

/**
 * @typedef {Object} Landscape
 * @property {string} run
 * @property {string} tag
 * @property {Float64Array} x
 * @property {Float64Array} y
 * @property {Float64Array} z rows along y
 * @property {{x: Float64Array, y: Float64Array, z: Float64Array} | null} path
 * @property {number[]} intervals
 * @property {{x: Float64Array, y: Float64Array, z: Float64Array} | null} convergence
 * @property {string} decomposition
 * @property {string} unit "step" or "epoch"
 * @property {number} step_per_epoch
 */

/**
 * Colour scales to choose from; "" is the page's own. All are even to the eye, so none makes cliffs where
 * there are none.
 */
export const MAPS = ["", "Viridis", "Cividis", "Greys"];

/** @typedef {{mode: string, shown: number, lines: number, colours: string}} Look */

/** The grid as rows. @param {Landscape} landscape */
function grid(landscape) {
  return Array.from(landscape.y, (_, row) =>
    landscape.z.subarray(row * landscape.x.length, (row + 1) * landscape.x.length),
  );
}

/**
 * @param {App} app @param {Landscape[]} landscapes drawn over each other @param {Look} look
 * @returns {{data: any[], layout: Record<string, any>, config?: any}}
 */
export function landscapeFigure(app, landscapes, look) {
  if (look.mode === "surface") return surface(app, landscapes, look);
  const data = landscapes.flatMap((landscape, i) => {
    const base = {
      x: landscape.x,
      y: landscape.y,
      z: grid(landscape),
      ncontours: look.lines,
      hovertemplate: `%{z:.5g}<extra>${name(app, landscape)}</extra>`,
    };
    const single = landscapes.length === 1;
    const colour = app.selection.colour(landscape.run);
    const plain = {
      ...base,
      type: "contour",
      showscale: single,
      colorbar: { thickness: 10, outlinewidth: 0 },
      colorscale: single
        ? scaleOf(app, look)
        : [
            [0, colour],
            [1, colour],
          ],
    };
    const lines = {
      ...plain,
      contours: {
        coloring: "lines",
        showlabels: true,
        labelfont: { size: 9, color: app.theme.colour("--muted") },
      },
      line: { width: 1.4 },
    };
    const filled = {
      ...plain,
      contours: { coloring: "fill" },
      line: { width: 0.6, color: app.theme.colour("--panel") },
    };
    const map = look.mode === "map" && i === 0 ? filled : lines;
    return [map, ...pathTraces(app, landscape, look, false)];
  });
  return {
    data,
    layout: {
      ...app.theme.plotly(),
      xaxis: app.theme.axis({ nticks: 6 }),
      yaxis: app.theme.axis({ nticks: 6 }),
      hovermode: "closest",
    },
  };
}

/** Lines need colours that differ from the panel's, areas do not. @param {App} app @param {Look} look */
function scaleOf(app, look) {
  return look.colours || (look.mode === "lines" ? inkRamp(app) : ramp(app));
}

/**
 * What a person turned stays turned when the path is played.
 * @param {App} app
 * @param {Landscape[]} landscapes
 * @param {Look} look
 */
function surface(app, landscapes, look) {
  const data = landscapes.flatMap((landscape, i) => {
    const colour = app.selection.colour(landscape.run);
    const trace = {
      type: "surface",
      x: landscape.x,
      y: landscape.y,
      z: grid(landscape),
      showscale: i === 0 && landscapes.length === 1,
      opacity: landscapes.length > 1 ? 0.8 : 1,
      colorscale:
        landscapes.length > 1
          ? [
              [0, colour],
              [1, app.theme.colour("--panel")],
            ]
          : scaleOf(app, look),
      colorbar: { thickness: 10, outlinewidth: 0 },
      contours: { z: { show: true, usecolormap: true, width: 1 } },
      hovertemplate: "%{x:.3g}, %{y:.3g}: %{z:.5g}<extra></extra>",
    };
    return [trace, ...pathTraces(app, landscape, look, true)];
  });
  const axis = {
    gridcolor: app.theme.colour("--grid"),
    color: app.theme.colour("--muted"),
    showspikes: false,
  };
  const scene = {
    xaxis: { ...axis, title: { text: "" } },
    yaxis: { ...axis, title: { text: "" } },
    zaxis: { ...axis, title: { text: app.t("landscape.loss") } },
    aspectmode: "cube",
    uirevision: "kept",
  };
  return { data, layout: { ...app.theme.plotly(), margin: { l: 0, r: 0, t: 0, b: 0 }, scene } };
}

/**
 * The way of training up to the point shown, and where it ends.
 * @param {App} app
 * @param {Landscape} landscape
 * @param {{shown: number}} look
 * @param {boolean} deep
 */
function pathTraces(app, landscape, look, deep) {
  const traces = [];
  const type = deep ? "scatter3d" : "scatter";
  const colour = app.theme.colour("--bad");
  if (landscape.path) {
    const until = Math.min(look.shown, landscape.path.x.length);
    const upToShown = (/** @type {Float64Array} */ column) => column.subarray(0, until);
    const unit = `landscape.unit.${landscape.unit === "epoch" ? "epoch" : "step"}`;
    const text = landscape.intervals
      .slice(0, until)
      .map((n, i) => `${app.t(unit, { n })}: ${app.format.number(landscape.path?.z[i], 5)}`);
    traces.push({
      type,
      mode: "lines+markers",
      x: upToShown(landscape.path.x),
      y: upToShown(landscape.path.y),
      ...(deep ? { z: upToShown(landscape.path.z) } : {}),
      text,
      hovertemplate: "%{text}<extra></extra>",
      line: { color: colour, width: deep ? 5 : 2 },
      marker: { size: deep ? 3 : 6, color: colour },
      showlegend: false,
    });
  }
  if (landscape.convergence && (!landscape.path || look.shown >= landscape.path.x.length)) {
    const { x, y, z } = landscape.convergence;
    traces.push({
      type,
      mode: "markers",
      x,
      y,
      ...(deep ? { z } : {}),
      marker: {
        size: deep ? 6 : 12,
        symbol: deep ? "diamond" : "star",
        color: colour,
        line: { width: 1, color: app.theme.colour("--panel") },
      },
      hovertemplate: `${app.t("landscape.end")}: ${app.format.number(z[0], 5)}<extra></extra>`,
      showlegend: false,
    });
  }
  return traces;
}

/** @param {App} app @param {Landscape} landscape */
export function name(app, landscape) {
  return app.selection.run(landscape.run)?.name ?? landscape.run;
}
