// Light SVG drawing of a line chart. It looks like Plotly's, takes a tenth of the time and needs no library.
// Plotly replaces it once the user turns to the chart.

import { replace, svg } from "../dom.js";
import { axisOf, rangeOf, ROOM } from "./axis.js";
import { areaPath, dashes, hasSymbols, linePath, markerPath, TENTHS } from "./paths.js";

/** @typedef {import("../charts.js").Figure} Figure */
/** @typedef {import("./axis.js").Axis} Axis */
/** @typedef {import("./paths.js").Line} Line */
/** @typedef {import("../types.js").PlotlyLayout} PlotlyLayout */
/**
 * A figure that can be sketched.
 * @typedef {{data: Line[], still?: Line[], layout: PlotlyLayout & Required<Pick<PlotlyLayout, "margin" |
 *   "font" |
 *   "xaxis" | "yaxis">>}} Sketchable
 */

const GAP = 6; // px between a curve and its name
const LABEL = 8.2; // px between a label and the plot
const MODES = ["lines", "markers", "lines+markers"];

/**
 * Return whether a figure has only lines and markers on axes with given ticks.
 * @param {Figure} figure
 * @returns {figure is Figure & Sketchable}
 */
export function canSketch(figure) {
  const { data, layout } = /** @type {Sketchable} */ (/** @type {unknown} */ (figure));
  const axes = [layout.xaxis, layout.yaxis];
  return (
    axes.every((axis) => axis?.tickvals && axis.ticktext && ["linear", "log"].includes(axis.type ?? "")) &&
    figure.data.every(({ type }) => type === "scatter") &&
    data.every(({ mode, marker }) => MODES.includes(mode) && hasSymbols(marker?.symbol))
  );
}

/** SVG drawing of one chart. `axes` converts between pixels and values. */
export class Sketch {
  /** @type {HTMLElement} */
  #element;
  /** The axes, as Plotly's layout names them. @type {{xaxis: Axis, yaxis: Axis} | null} */
  axes = null;
  /** px @type {{width: number, height: number}} */
  size = { width: 0, height: 0 };
  /**
   * The layer of what stands still, and what it shows.
   * @type {{element: Element, traces: Line[], key: string} | null}
   */
  #still = null;

  /** @param {HTMLElement} element of the chart */
  constructor(element) {
    this.#element = element;
  }

  /**
   * Draw a figure, replacing the element's content.
   * @param {Sketchable} figure
   * @param {{width: number, height: number}} size px
   */
  draw(figure, size) {
    const { layout } = figure;
    const { l: left, r, t: top, b } = layout.margin;
    const [width, height] = [Math.max(1, size.width - left - r), Math.max(1, size.height - top - b)];
    this.size = size;
    const { xaxis, yaxis, ranges } = this.#axes(figure, { left, top, width, height });
    this.axes = { xaxis, yaxis };
    const box = { x: left, y: top, width, height };
    const second = axisOf({ type: "linear" }, [0, 1], { offset: top, length: height, up: true });
    const axesOf = (/** @type {Line} */ trace) => ({ x: xaxis, y: trace.yaxis === "y2" ? second : yaxis });
    /** @param {Line[]} data @param {Record<"under" | "over", SVGElement | null>} lines */
    const layer = (data, { under, over }) =>
      svg(
        "svg",
        { class: "sketch", width: size.width, height: size.height, "aria-hidden": "true" },
        under,
        svg(
          "svg",
          box,
          scaled(traces(data.filter(isClipped), axesOf)),
          over && rules(layout.shapes ?? [], xaxis, yaxis),
        ),
        svg(
          "g",
          { transform: `translate(${left},${top})` },
          /** Return a group whose coordinates are tenths of a pixel. */
          scaled(
            /** Return one group per trace. */
            traces(
              data.filter((trace) => !isClipped(trace)),
              axesOf,
            ),
          ),
        ),
        over,
      );
    const under = grid(layout, xaxis, yaxis);
    const over = labels(layout, xaxis, yaxis);
    const still = figure.still ?? [];
    if (!still.length) {
      this.#still = null;
      replace(this.#element, layer(figure.data, { under, over }));
      return;
    }
    const key = JSON.stringify([size, layout.margin, ranges, layout.xaxis, layout.yaxis]);
    if (this.#still?.traces !== still || this.#still.key !== key) {
      this.#still = { element: layer(still, { under, over: null }), traces: still, key };
      this.#still.element.classList.add("still");
      replace(this.#element, this.#still.element);
    }
    this.#still.element.nextElementSibling?.remove();
    this.#element.append(layer(figure.data.slice(still.length), { under: null, over }));
  }

  /**
   * Return the axes that hold all traces.
   * @param {Sketchable} figure
   * @param {{left: number, top: number, width: number, height: number}} box px
   */
  #axes({ data, layout }, { left, top, width, height }) {
    const onFirst = data.filter(({ yaxis }) => yaxis !== "y2");
    const across = rangeOf(
      layout.xaxis,
      data.map((trace) => ({ values: trace.x, px: reach(trace, width) })),
      width,
    );
    const up = rangeOf(
      layout.yaxis,
      onFirst.map(({ y }) => ({ values: y, px: ROOM * height })),
      height,
    );
    return {
      xaxis: axisOf(layout.xaxis, across, { offset: left, length: width }),
      yaxis: axisOf(layout.yaxis, up, { offset: top, length: height, up: true }),
      ranges: [across, up],
    };
  }

  /** Remove the drawing. */
  remove() {
    this.#element.replaceChildren();
    this.#still = null;
    this.axes = null;
  }
}

/** @param {Line} trace */
function isClipped({ cliponaxis }) {
  return cliponaxis !== false;
}

/**
 * Return the margin that a trace's markers need beyond the ends of the x axis, in pixels.
 * @param {Line} trace
 * @param {number} length px
 */
function reach({ mode, marker }, length) {
  return mode === "lines" ? 0 : ROOM * length + 0.8 * Math.max(0, ...[marker?.size ?? 6].flat());
}

/** Return the visible ticks with their pixel positions. @param {Axis} axis @returns {[number, string][]} */
function ticksOn({ c2p, _length, tickvals, ticktext }) {
  return tickvals
    .map((value, i) => /** @type {[number, string]} */ ([c2p(value), ticktext[i]]))
    .filter(([px]) => px >= -0.5 && px <= _length + 0.5);
}

/** Return the nearest half pixel, where a line one pixel wide is sharp. @param {number} px */
function sharp(px) {
  return Math.round(px - 0.5) + 0.5;
}

/** Return the grid lines. @param {Sketchable["layout"]} layout @param {Axis} x @param {Axis} y */
function grid({ xaxis }, x, y) {
  const upright = ticksOn(x).map(([px]) => `M${sharp(x._offset + px)},${y._offset}v${y._length}`);
  const level = ticksOn(y).map(([px]) => `M${x._offset},${sharp(y._offset + px)}h${x._length}`);
  return svg("path", { d: [...upright, ...level].join(""), stroke: xaxis.gridcolor, fill: "none" });
}

/**
 * Return the tick labels of both axes, and the names in the plot.
 * @param {Sketchable["layout"]} layout
 * @param {Axis} x
 * @param {Axis} y
 */
function labels({ font, annotations = [], yaxis }, x, y) {
  const below = y._offset + y._length + LABEL + font.size;
  return svg(
    "g",
    { style: { font: `${font.size}px ${font.family}`, fill: font.color } },
    ticksOn(x).map(([px, text]) =>
      svg("text", { x: x._offset + px, y: below, "text-anchor": "middle" }, text),
    ),
    annotations.map(({ x: across, y: up, text, xanchor, yanchor, font: { color } }) => {
      const beside = yanchor === "top" ? font.size + GAP : -GAP;
      const at = {
        x: x._offset + x.c2p(across),
        y: y._offset + y.c2p(yaxis.type === "log" ? 10 ** up : up) + beside,
      };
      const anchor = xanchor === "left" ? "start" : "end";
      return svg("text", { ...at, "text-anchor": anchor, class: "line-end", fill: color }, text);
    }),
    ticksOn(y).map(([px, text]) => {
      const place = { x: x._offset - LABEL, y: y._offset + px + 0.35 * font.size };
      return svg("text", { ...place, "text-anchor": "end" }, text);
    }),
  );
}

/**
 * Return a group whose coordinates are tenths of a pixel.
 * @param {Element[]} children in tenths of a pixel
 */
function scaled(children) {
  return svg("g", { transform: `scale(${1 / TENTHS})`, fill: "none", "stroke-linejoin": "round" }, children);
}

/**
 * Return one group per trace.
 * @param {Line[]} data
 * @param {(trace: Line) => import("./paths.js").Axes} axesOf
 */
function traces(data, axesOf) {
  return data.map((trace, i) => {
    const { opacity, meta } = trace;
    return svg(
      "g",
      { class: "trace", opacity, "data-run": typeof meta === "string" ? meta : null },
      parts(trace, data[i - 1], axesOf(trace)),
    );
  });
}

/**
 * Return the paths of a trace: area, line and markers.
 * @param {Line} trace
 * @param {Line | undefined} before
 * @param {import("./paths.js").Axes} axes
 */
function parts(trace, before, axes) {
  const { mode, line = {}, marker = {} } = trace;
  const width = line.width ?? 2;
  const drawn = [];
  if (trace.fill) drawn.push({ d: areaPath(trace, before, axes), fill: trace.fillcolor });
  if (mode.includes("lines") && width > 0) {
    const stroke = { stroke: line.color, "stroke-width": width * TENTHS };
    const d = linePath(trace.x, trace.y, axes);
    drawn.push({ d, ...stroke, "stroke-dasharray": dashes(line.dash, width) });
  }
  if (mode.includes("markers")) {
    const colour = marker.color ?? line.color;
    const outline = { stroke: colour, "stroke-width": (marker.line?.width ?? 1) * TENTHS };
    const paint = marker.symbol === "line-ns-open" ? outline : { fill: colour };
    drawn.push({ d: markerPath(trace, axes), ...paint });
  }
  return drawn.filter(({ d }) => d).map((path) => svg("path", path));
}

/**
 * Return the straight lines of the layout's shapes.
 * @param {import("../types.js").PlotlyShape[]} shapes
 * @param {Axis} x
 * @param {Axis} y
 */
function rules(shapes, x, y) {
  const across = (/** @type {{xref?: string}} */ { xref }, /** @type {number} */ at) =>
    xref === "paper" ? at * x._length : x.c2p(at);
  const down = (/** @type {{yref?: string}} */ { yref }, /** @type {number} */ at) =>
    yref === "paper" ? (1 - at) * y._length : y.c2p(at);
  return shapes.map((shape) => {
    const { width, color, dash } = shape.line;
    return svg("line", {
      x1: across(shape, shape.x0),
      x2: across(shape, shape.x1),
      y1: down(shape, shape.y0),
      y2: down(shape, shape.y1),
      stroke: color,
      "stroke-width": width,
      "stroke-dasharray": dash === "dot" ? "3,3" : null,
      opacity: shape.opacity,
    });
  });
}
