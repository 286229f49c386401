// Training path on a landscape, drawn above the surface with step numbers.

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./figures.js").Landscape} Landscape */
/** @typedef {{deep: boolean, own: boolean}} Drawing `deep` on a surface; `own` in the colour of the run */

const LABELS = 5; // numbers beside a path
const LIFT = 0.015; // of the height, above the surface that would hide it

/**
 * Return the traces of the path up to the shown point and of its end.
 * @param {App} app
 * @param {Landscape} landscape
 * @param {{shown: number}} look
 * @param {Drawing} drawing
 */
export function pathTraces(app, landscape, look, drawing) {
  const { path, convergence } = landscape;
  const traces = [];
  if (path) traces.push(pathTrace(app, landscape, look, drawing));
  if (convergence && (!path || look.shown >= path.x.length)) {
    traces.push(endTrace(app, landscape, convergence, drawing));
  }
  if (path) traces.push(labelTrace(app, landscape, look, drawing));
  return traces;
}

/** Return the colour of the path. @param {App} app @param {Landscape} landscape @param {Drawing} drawing */
function colourOf(app, landscape, { own }) {
  return own ? app.selection.colour(landscape.run) : app.theme.colour("--bad");
}

/**
 * Return heights slightly above the surface, which would hide them otherwise.
 * @param {Landscape} landscape
 * @param {ArrayLike<number>} heights
 */
function lifted(landscape, heights) {
  const finite = Array.from(landscape.z).filter(Number.isFinite);
  const lift = LIFT * (Math.max(...finite) - Math.min(...finite));
  return Array.from(heights, (height) => height + (Number.isFinite(lift) ? lift : 0));
}

/**
 * Return the coordinates of points on the plane or surface.
 * @param {Landscape} landscape
 * @param {NonNullable<Landscape["path"]>} points
 * @param {Drawing} drawing
 */
function places(landscape, { x, y, z }, { deep }) {
  return { type: deep ? "scatter3d" : "scatter", x, y, ...(deep ? { z: lifted(landscape, z) } : {}) };
}

/** Return the path up to a point. @param {Landscape} landscape @param {number} until */
function pathUpTo({ path }, until) {
  const upTo = (/** @type {Float64Array | undefined} */ column) =>
    (column ?? new Float64Array()).subarray(0, until);
  return { x: upTo(path?.x), y: upTo(path?.y), z: upTo(path?.z) };
}

/**
 * Return the trace of the path.
 * @param {App} app
 * @param {Landscape} landscape
 * @param {{shown: number}} look
 * @param {Drawing} drawing
 */
function pathTrace(app, landscape, look, drawing) {
  const colour = colourOf(app, landscape, drawing);
  const { deep } = drawing;
  const unit = `landscape.unit.${landscape.unit === "epoch" ? "epoch" : "step"}`;
  const path = pathUpTo(landscape, look.shown);
  const text = landscape.intervals
    .slice(0, path.x.length)
    .map((n, i) => `${app.t(unit, { n })}: ${app.format.number(path.z[i], 5)}`);
  return {
    ...places(landscape, path, drawing),
    mode: "lines+markers",
    text,
    hovertemplate: "%{text}<extra></extra>",
    line: { color: colour, width: deep ? 6 : 3 },
    marker: {
      size: deep ? 4 : 8,
      color: colour,
      line: { width: deep ? 1 : 1.5, color: app.theme.colour("--panel") },
    },
    showlegend: false,
  };
}

/**
 * @param {App} app @param {Landscape} landscape @param {NonNullable<Landscape["path"]>} convergence
 * @param {Drawing} drawing
 */
function endTrace(app, landscape, convergence, drawing) {
  const { deep } = drawing;
  return {
    ...places(landscape, convergence, drawing),
    mode: "markers",
    marker: {
      size: deep ? 6 : 13,
      symbol: deep ? "diamond" : "star",
      color: colourOf(app, landscape, drawing),
      line: { width: 1, color: app.theme.colour("--panel") },
    },
    hovertemplate: `${app.t("landscape.end")}: ${app.format.number(convergence.z[0], 5)}<extra></extra>`,
    showlegend: false,
  };
}

/**
 * Steps beside some of the points.
 * @param {App} app @param {Landscape} landscape @param {{shown: number}} look @param {Drawing} drawing
 */
function labelTrace(app, landscape, look, drawing) {
  const path = pathUpTo(landscape, look.shown);
  const chosen = labelled(path.x.length);
  const at = (/** @type {Float64Array} */ column) => Float64Array.from(chosen, (i) => column[i]);
  return {
    ...places(landscape, { x: at(path.x), y: at(path.y), z: at(path.z) }, drawing),
    mode: "text",
    text: chosen.map((i) => app.format.number(landscape.intervals[i])),
    textposition: "top right",
    textfont: { size: 11, color: app.theme.colour("--text") },
    hoverinfo: "skip",
    showlegend: false,
  };
}

/**
 * Return the positions of the points that have a number: the first, the last, and some between.
 * @param {number} points
 */
export function labelled(points) {
  const count = Math.min(points, LABELS);
  const at = Array.from({ length: count }, (_, i) => Math.round((i * (points - 1)) / Math.max(1, count - 1)));
  return [...new Set(at)];
}
