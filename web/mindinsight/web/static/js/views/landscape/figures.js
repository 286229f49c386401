// Figures of landscapes: contour lines, filled map or surface, with the training path.

import { ramp } from "../../core/ramp.js";
import { inkRamp } from "../../components/objective_colour.js";
import { pathTraces } from "./path_traces.js";

/** @typedef {import("../../core/charts.js").Figure} Figure */
/** @typedef {import("../../core/types.js").App} App */

/** @typedef {import("../../components/landscape/intervals.js").Landscape} Landscape */

/**
 * Colour scales to choose from; "" is the page's own. All are even to the eye, so none makes cliffs where
 * there are none.
 */
export const MAPS = ["", "Viridis", "Cividis", "Greys"];

/**
 * @typedef {Object} Look
 * @property {string} mode
 * @property {number} shown points of the path
 * @property {number} lines
 * @property {string} colours
 * @property {import("./levels.js").Levels | null} [levels] that all landscapes share
 * @property {[number, number] | null} [range] of the loss in all landscapes
 * @property {unknown} [camera] of all surfaces, once one was turned
 * @property {number} [turns] how often
 */

/** Return the losses as rows. @param {Landscape} landscape */
function grid(landscape) {
  return Array.from(landscape.y, (_, row) =>
    landscape.z.subarray(row * landscape.x.length, (row + 1) * landscape.x.length),
  );
}

/**
 * Return the figure of one or several landscapes.
 * @param {App} app
 * @param {Landscape[]} landscapes drawn over each other
 * @param {Look} look
 * @returns {Figure}
 */
export function landscapeFigure(app, landscapes, look) {
  if (look.mode === "surface") return surface(app, landscapes, look);
  const over = landscapes.length > 1;
  const maps = landscapes.map((landscape) => (over ? levelLines : contours)(app, landscape, look));
  const paths = landscapes.flatMap((landscape) =>
    pathTraces(app, landscape, look, { deep: false, own: over }),
  );
  const data = [...maps, ...paths];
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

/**
 * Return one landscape as lines or a filled map.
 * @param {App} app
 * @param {Landscape} landscape
 * @param {Look} look
 */
function contours(app, landscape, look) {
  const plain = {
    type: "contour",
    x: landscape.x,
    y: landscape.y,
    z: grid(landscape),
    ...coloured("z", look),
    ...(look.levels ? { autocontour: false } : { ncontours: look.lines }),
    hovertemplate: `%{z:.5g}<extra>${name(app, landscape)}</extra>`,
    colorbar: { thickness: 10, outlinewidth: 0 },
    colorscale: scaleOf(app, look),
  };
  if (look.mode === "map") {
    return {
      ...plain,
      contours: { ...look.levels, coloring: "fill" },
      line: { width: 0.6, color: app.theme.colour("--panel") },
    };
  }
  const labelfont = { size: 9, color: app.theme.colour("--muted") };
  const lines = { ...look.levels, coloring: "lines", showlabels: true, labelfont };
  return { ...plain, contours: lines, line: { width: 1.4 } };
}

/**
 * Return the ends of the colour scale, shared by all landscapes.
 * @param {"z" | "c"} letter of the trace's property
 * @param {Look} look
 */
function coloured(letter, { range }) {
  return range ? { [`${letter}auto`]: false, [`${letter}min`]: range[0], [`${letter}max`]: range[1] } : {};
}

/**
 * Return one of several landscapes as lines in its run's colour at shared levels.
 * @param {App} app
 * @param {Landscape} landscape
 * @param {Look} look
 */
function levelLines(app, landscape, { levels, lines }) {
  const colour = app.selection.colour(landscape.run);
  return {
    type: "contour",
    x: landscape.x,
    y: landscape.y,
    z: grid(landscape),
    showscale: false,
    hovertemplate: `%{z:.5g}<extra>${name(app, landscape)}</extra>`,
    ...(levels ? { autocontour: false } : { ncontours: lines }),
    contours: { ...levels, coloring: "none", showlabels: true, labelfont: { size: 9, color: colour } },
    line: { width: 1.4, color: colour },
  };
}

/**
 * Return the colour scale. Lines need colours that differ from the panel's.
 * @param {App} app
 * @param {Look} look
 */
function scaleOf(app, look) {
  return look.colours || (look.mode === "lines" ? inkRamp(app) : ramp(app));
}

/**
 * Return the figure of surfaces. The camera is kept while the path is played.
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
      ...coloured("c", look),
      colorbar: { thickness: 10, outlinewidth: 0 },
      contours: { z: { show: true, usecolormap: true, width: 1 } },
      hovertemplate: "%{x:.3g}, %{y:.3g}: %{z:.5g}<extra></extra>",
    };
    return [trace, ...pathTraces(app, landscape, look, { deep: true, own: landscapes.length > 1 })];
  });
  const axis = {
    gridcolor: app.theme.colour("--grid"),
    color: app.theme.colour("--muted"),
    showspikes: false,
  };
  const scene = {
    xaxis: { ...axis, title: { text: "" } },
    yaxis: { ...axis, title: { text: "" } },
    zaxis: {
      ...axis,
      title: { text: app.t("landscape.loss") },
      ...(look.range ? { range: look.range } : {}),
    },
    aspectmode: "cube",
    uirevision: `turned ${look.turns ?? 0}`,
    ...(look.camera ? { camera: look.camera } : {}),
  };
  return { data, layout: { ...app.theme.plotly(), margin: { l: 0, r: 0, t: 0, b: 0 }, scene } };
}

/** Return the name of a landscape's run. @param {App} app @param {Landscape} landscape */
export function name(app, landscape) {
  return app.selection.run(landscape.run)?.name ?? landscape.run;
}
