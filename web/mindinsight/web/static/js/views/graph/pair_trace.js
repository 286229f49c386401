// Trace of a pair's dependencies in both graphs.

/** @typedef {import("../../core/answers.js").NodePair} NodePair */
/** @typedef {import("../../core/types.js").Parameters} Parameters */

const NAMES = /** @type {const} */ (["left", "right"]);

/**
 * Request both traces. Return the boxes to highlight on each side and the text for the panel.
 * @param {import("../../core/types.js").App} app
 * @param {Parameters[]} graphs what tells the server each graph
 * @param {import("../../components/graph/canvas.js").Canvas[]} canvases
 * @param {NodePair} pair
 * @param {"up" | "down"} direction
 * @param {AbortSignal} signal
 * @returns {Promise<{lit: Set<number>[], text: string}>} boxes to light in each drawing, and words for the
 *   panel
 */
export async function tracePair(app, graphs, canvases, pair, direction, signal) {
  const { t } = app;
  const traced = NAMES.map((name, side) => {
    const node = pair[name]?.id;
    if (node === undefined) return null;
    const boxes = canvases[side]
      .boxes()
      .map((box) => box.id)
      .join(",");
    return app.api.get("v2/graph/trace", { ...graphs[side], node, direction, shown: boxes }, { signal });
  });
  const traces = await Promise.all(traced);
  const texts = traces.map(
    (trace, side) =>
      trace && `${t(`graph.${NAMES[side]}`)}: ${t(`graph.traced.${direction}`, { n: trace.operators })}`,
  );
  return { lit: traces.map((trace) => new Set(trace?.boxes)), text: texts.filter(Boolean).join(" ") };
}
