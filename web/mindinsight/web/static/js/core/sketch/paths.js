// SVG paths of the traces of a light drawing. Coordinates are whole tenths of a pixel, which keeps paths
// short.

/** @typedef {import("./axis.js").Axis} Axis */
/** @typedef {{x: Axis, y: Axis}} Axes */
/**
 * @typedef {{symbol?: string | string[], size?: number | number[], color?: string, line?: {width?: number}}}
 *   Marker
 */
/**
 * A trace of Plotly that can be sketched.
 * @typedef {{x: ArrayLike<number>, y: ArrayLike<number>, mode: string, yaxis?: string, cliponaxis?: boolean,
 *   opacity?: number, meta?: unknown, fill?: string, fillcolor?: string, marker?: Marker,
 *   line?: {width?: number, color?: string, dash?: string}}} Line
 */

export const TENTHS = 10;
const FAR = 100_000; // tenths of a pixel beyond which nothing is drawn

/** Round pixels to tenths, limited to the drawable area. @param {number} px */
function tenths(px) {
  return Math.max(-FAR, Math.min(FAR, Math.round(TENTHS * px)));
}

/**
 * Return the path of a line, with gaps at non-finite values.
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {Axes} axes
 */
export function linePath(x, y, axes) {
  const parts = [];
  let [drawing, across, down] = [false, 0, 0];
  for (let i = 0; i < y.length; i++) {
    const [px, py] = [axes.x.c2p(x[i]), axes.y.c2p(y[i])];
    if (!isValue(x[i]) || !isValue(y[i]) || !Number.isFinite(px) || !Number.isFinite(py)) {
      drawing = false;
      continue;
    }
    const [nextAcross, nextDown] = [tenths(px), tenths(py)];
    if (drawing) parts.push(`l${nextAcross - across},${nextDown - down}`);
    else parts.push(`M${nextAcross},${nextDown}`);
    [drawing, across, down] = [true, nextAcross, nextDown];
  }
  return parts.join("");
}

/** Return whether a value is a finite number. Null and undefined are gaps. @param {unknown} value */
function isValue(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/**
 * Return the path of the area between a line and the previous one, or inside a closed line.
 * @param {{x: ArrayLike<number>, y: ArrayLike<number>, fill?: string}} trace
 * @param {{x: ArrayLike<number>, y: ArrayLike<number>} | undefined} before
 * @param {Axes} axes
 */
export function areaPath(trace, before, axes) {
  const edge = points(trace, axes);
  const back = trace.fill === "tonexty" && before ? points(before, axes).reverse() : [];
  const corners = [...edge, ...back];
  return corners.length ? `M${corners.map(([px, py]) => `${px},${py}`).join("L")}Z` : "";
}

/**
 * Return the pixel coordinates of the finite points.
 * @param {{x: ArrayLike<number>, y: ArrayLike<number>}} trace
 * @param {Axes} axes
 */
function points({ x, y }, axes) {
  const corners = [];
  for (let i = 0; i < y.length; i++) {
    const [px, py] = [axes.x.c2p(x[i]), axes.y.c2p(y[i])];
    if (isValue(x[i]) && isValue(y[i]) && Number.isFinite(px) && Number.isFinite(py)) {
      corners.push([tenths(px), tenths(py)]);
    }
  }
  return corners;
}

/** Shapes around the origin, for a radius. @type {Record<string, (r: number) => string>} */
const SYMBOLS = {
  circle: (r) => `m${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
  "triangle-up": (r) => `m0,${-r}l${f(r * 1.155)},${f(r * 1.5)}h${-2 * f(r * 1.155)}z`,
  "triangle-down": (r) => `m0,${r}l${f(r * 1.155)},${f(-r * 1.5)}h${-2 * f(r * 1.155)}z`,
  "line-ns-open": (r) => `m0,${f(-1.4 * r)}v${2 * f(1.4 * r)}`,
  x: (r) => {
    const [arm, thick] = [f(r), f(r * 0.45)];
    const long = arm - thick;
    const east = `l${long},${-long}l${thick},${thick}l${-long},${long}l${long},${long}l${-thick},${thick}`;
    const west = `l${-long},${long}l${-thick},${-thick}l${long},${-long}`;
    const north = `l${-long},${-long}l${thick},${-thick}`;
    return `m0,${-thick}${east}l${-long},${-long}${west}${north}z`;
  },
};

/** Round a length, given in tenths of a pixel, to a whole number. @param {number} value */
function f(value) {
  return Math.round(value);
}

/** Return whether all marker symbols can be drawn. @param {string | string[] | undefined} symbol */
export function hasSymbols(symbol) {
  return [symbol ?? "circle"].flat().every((name) => name in SYMBOLS);
}

/**
 * Return the path of all markers.
 * @param {{x: ArrayLike<number>, y: ArrayLike<number>, marker?: Marker}} trace
 * @param {Axes} axes
 */
export function markerPath({ x, y, marker = {} }, axes) {
  const { symbol = "circle", size = 6 } = marker;
  const parts = [];
  for (let i = 0; i < y.length; i++) {
    const [px, py] = [axes.x.c2p(x[i]), axes.y.c2p(y[i])];
    const radius = ((Array.isArray(size) ? size[i] : size) / 2) * TENTHS;
    if (!isValue(x[i]) || !isValue(y[i]) || !Number.isFinite(px) || !Number.isFinite(py) || !radius) continue;
    const name = Array.isArray(symbol) ? symbol[i] : symbol;
    parts.push(`M${tenths(px)},${tenths(py)}${SYMBOLS[name](f(radius))}`);
  }
  return parts.join("");
}

/**
 * Return SVG's dash pattern for a Plotly dash style, or null for a solid line.
 * @param {string | undefined} style
 * @param {number} width px of the line
 */
export function dashes(style, width) {
  const unit = TENTHS * Math.max(width, 3);
  const lengths = { dot: [1, 1], dash: [3, 3], dashdot: [3, 1, 1, 1], longdash: [5, 5] }[style ?? "solid"];
  return lengths?.map((length) => length * unit).join(",") ?? null;
}
