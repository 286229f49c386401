// Names at the ends of the curves of a chart, where there is room.

/** @typedef {import("./merge.js").Trace} Trace */

const FEWEST = 2; // curves: a single one is named by the list of runs
const MOST = 5; // more names would cover the curves
const LONGEST = 24; // characters: a third of a card
const APART = 0.1; // share of the height between two ends, so that it is clear whose name it is
const HIGH = 0.9; // share of the height from which on there is no room above a curve
const LEFT = 0.4; // share of the width before which a name stands to the right of the end

/**
 * A text in a chart, as in Plotly's layout; on a logarithmic axis `y` is a logarithm.
 * @typedef {{x: number, y: number, text: string, showarrow: false, xanchor: "left" | "right",
 *   yanchor: "top" | "bottom", font: {color: string | undefined, size: number}}} EndLabel
 */

/**
 * Return the names of curves to write at their ends, none where curves are too many or a part of the axes is
 * shown.
 * @param {Trace[]} traces
 * @param {{x: [number, number], y: [number, number], log: boolean}} axes ranges, in the axes' units
 * @param {number} size px of the text
 * @returns {EndLabel[]}
 */
export function endLabels(traces, { x, y, log }, size) {
  const lines = new Map(traces.filter(isCurve).map((trace) => [trace.meta, trace]));
  if (lines.size < FEWEST || lines.size > MOST) return [];
  const share = (/** @type {number} */ value, /** @type {[number, number]} */ [low, high]) =>
    (value - low) / (high - low);
  const ends = [...lines.values()].flatMap((trace) => {
    const at = lastFinite(trace);
    const value = log ? Math.log10(trace.y[at]) : trace.y[at];
    return at < 0 ? [] : [{ trace, at: trace.x[at], value, up: share(value, y) }];
  });
  return ends.flatMap((end) => {
    const { trace, at, value, up } = end;
    const text = String(trace.name ?? "");
    const across = share(at, x);
    const isClear = ends.every((other) => other === end || Math.abs(other.up - up) >= APART);
    if (!isClear || !(up >= 0 && up <= 1) || !text || text.length > LONGEST) return [];
    return [
      {
        x: at,
        y: value,
        text,
        showarrow: false,
        xanchor: across < LEFT ? "left" : "right",
        yanchor: up > HIGH ? "top" : "bottom",
        font: { color: trace.line?.color, size },
      },
    ];
  });
}

/** Return whether a trace is the line of a curve, not what stands behind it. @param {Trace} trace */
function isCurve({ mode, opacity, fill, meta }) {
  return mode === "lines" && opacity === 1 && !fill && typeof meta === "string";
}

/** Return the index of the last point, or -1. @param {Trace} trace */
function lastFinite({ y }) {
  let at = y.length - 1;
  while (at >= 0 && !Number.isFinite(y[at])) at--;
  return at;
}
