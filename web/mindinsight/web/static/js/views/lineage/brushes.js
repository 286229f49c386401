// Brushes of the parallel axes in the address: "user:dropout~0.25~1", as shares of the axis.

/** @typedef {import("./axes.js").Brush} Brush */

/** Parse brushes. Invalid ones are skipped. @param {string[]} texts @returns {Map<string, Brush>} */
export function readBrushes(texts) {
  /** @type {Map<string, Brush>} */
  const brushes = new Map();
  for (const text of texts) {
    const fields = text.split("~");
    const [low, high] = fields.slice(-2).map(Number);
    if (fields.length > 2 && low < high) brushes.set(fields.slice(0, -2).join("~"), { low, high });
  }
  return brushes;
}

/** Return brushes as texts for the address. @param {Map<string, Brush>} brushes */
export function writeBrushes(brushes) {
  return [...brushes].map(
    ([key, { low, high }]) => `${key}~${Number(low.toFixed(3))}~${Number(high.toFixed(3))}`,
  );
}
