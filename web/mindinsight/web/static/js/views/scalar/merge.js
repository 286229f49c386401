// Merging of lines with the same style into one trace with gaps, because Plotly's cost depends more on traces
// than on points.

/**
 * Trace of numbers.
 * @typedef {import("../../core/types.js").Trace & {x: ArrayLike<number>, y: ArrayLike<number>}} Trace
 */

/**
 * Return the fewest traces that look the same.
 * @param {Trace[]} traces
 * @returns {Trace[]} as few as show the same, in the order of their first lines
 */
export function merged(traces) {
  /** @type {Map<string, Trace[]>} */
  const alike = new Map();
  const unmerged = [];
  for (const trace of traces) {
    const key = JSON.stringify([trace.line, trace.opacity, trace.yaxis]);
    if (trace.mode !== "lines" || trace.fill) unmerged.push(trace);
    else if (alike.has(key)) alike.get(key)?.push(trace);
    else alike.set(key, [trace]);
  }
  return [
    ...[...alike.values()].map((similar) => ({
      ...similar[0],
      meta: similar.length > 1 ? "" : similar[0].meta,
      x: joined(similar, "x"),
      y: joined(similar, "y"),
    })),
    ...unmerged,
  ];
}

/**
 * Return the columns of several traces with gaps between them.
 * @param {Trace[]} traces
 * @param {"x" | "y"} axis
 */
function joined(traces, axis) {
  const column = new Float64Array(traces.reduce((sum, trace) => sum + trace[axis].length + 1, -1)).fill(NaN);
  let at = 0;
  for (const trace of traces) {
    column.set(trace[axis], at);
    at += trace[axis].length + 1;
  }
  return column;
}
