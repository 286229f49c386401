// Traces of a band: the centre of the runs as a line, spread and range as areas behind it.

import { calmRangeOf } from "../../core/calm_range.js";
import { withRoomForLabels } from "../../core/sketch/margins.js";
import { scaleOf } from "./scale.js";
import { ticksAround, ticksFor, wholeTicks } from "./ticks.js";
import { upright } from "./zoom.js";

export const RANGE = 0.12; // opacity of the range
export const AROUND = 0.2; // of the area around the line, which lies on the range

/** @typedef {Record<"step" | "low" | "high", Float64Array>} Band */

/**
 * Return the range of bands without a few values that would flatten them; null if there are none.
 * @param {Band[]} bands
 */
export function calmBands(bands) {
  return calmRangeOf(bands.flatMap(({ low, high }) => [low, high]));
}

/**
 * Return the axes of bands and the function that maps values to the y axis.
 * @param {import("./card.js").Page} page
 * @param {Band[]} bands
 * @param {[number, number] | null} [calm] range of a linear y axis, if not all values are to be seen
 */
export function bandSheet({ app, options }, bands, calm = null) {
  const { y } = options();
  const ends = bands.flatMap(({ low, high }) => [low, high]);
  const scale = scaleOf(y, ends);
  const ticks = y === "symlog" ? null : calm && y === "linear" ? ticksAround(y, calm) : ticksFor(y, ends);
  const range = ticks && upright(ticks.range, scale);
  const { tickvals, ticktext } = scale.ticks ?? ticks ?? { tickvals: [], ticktext: [] };
  const yaxis = app.theme.axis({ type: scale.type, tickvals, ticktext, ...(range ? { range } : {}) });
  const xaxis = app.theme.axis({ type: "linear", ...wholeTicks(bands.map(({ step }) => step)) });
  const layout = { ...app.theme.plotly(), xaxis, yaxis, hovermode: "x" };
  return { to: scale.to, layout: withRoomForLabels(layout) };
}

/**
 * Return the Plotly trace of a line whose values are mapped by `to`; its tooltip shows the values before.
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} values
 * @param {(v: number) => number} to
 */
export function lineOn(x, values, to) {
  return {
    type: "scatter",
    mode: "lines",
    x,
    y: Float64Array.from(values, to),
    customdata: values,
    hovertemplate: "%{customdata:.4g}",
  };
}

/**
 * Return the traces of a band: its line, the area around the line, and the range.
 * @param {{band: Band, line: Float64Array, around: [ArrayLike<number>, ArrayLike<number>], colour: string,
 *   label: string, to: (v: number) => number, ranges?: boolean}} options `around` are the ends of the
 *   inner area; without `ranges` it is the only one
 * @returns {import("../../core/types.js").Trace[]}
 */
export function bandTraces({ band, line, around, colour, label, to, ranges = true }) {
  const x = band.step;
  const [down, up] = around.map((end) => Float64Array.from(end, to));
  const edge = {
    type: "scatter",
    mode: "lines",
    x,
    line: { width: 0, color: colour },
    hoverinfo: "skip",
    legendgroup: label,
  };
  const mode = line.length > 1 ? "lines" : "markers"; // one point has no line
  const range = [
    { ...edge, y: Float64Array.from(band.low, to) },
    { ...edge, y: Float64Array.from(band.high, to), fill: "tonexty", fillcolor: faint(colour, RANGE) },
  ];
  return [
    ...(ranges ? range : []),
    { ...edge, y: down },
    { ...edge, y: up, fill: "tonexty", fillcolor: faint(colour, ranges ? AROUND : RANGE) },
    {
      ...lineOn(x, line, to),
      mode,
      name: label,
      marker: { color: colour, size: 6 },
      line: { color: colour, width: 2 },
      legendgroup: label,
    },
  ];
}

/** Return a colour "#rrggbb" with an opacity. @param {string} colour @param {number} share */
export function faint(colour, share) {
  return (
    colour +
    Math.round(share * 255)
      .toString(16)
      .padStart(2, "0")
  );
}
