// The lines of a drawing: what flows from box to box, and the shapes that flow.

import { svg } from "../../core/dom.js";

/** @typedef {import("./shapes.js").Line} Line */
/** @typedef {import("./shapes.js").Picture} Picture */

/**
 * @param {Line} line
 * @param {boolean} out it ends at the border of the scope it lies in, and goes on from there
 */
export function lineShape(line, out) {
  const up = line.points[line.points.length - 1] < line.points[line.points.length - 3];
  const kind = line.control ? " control" : up ? " up" : "";
  const border = line.values === 0;
  return svg("path", {
    class: `line${kind}`,
    d: path(line.points),
    "stroke-width": border ? 1.2 : Math.min(4, 1 + Math.log2(line.values) / 2).toFixed(2),
    "marker-end": out ? null : "url(#graph-arrow)",
  });
}

/**
 * What shapes flow out of scopes, once for each below its box: an operator tells its own, and the right is
 * for stubs.
 * @param {Picture} picture
 */
export function flowing({ boxes, lines }) {
  const scopes = new Set(boxes.filter((box) => box.count > 0).map((box) => box.id));
  /** @type {Map<number, {at: number[], texts: Set<string>}>} */
  const labels = new Map();
  for (const { source, text, points } of lines) {
    if (!text || !scopes.has(source) || points[3] <= points[1]) continue;
    const label = labels.get(source) ?? { at: points, texts: new Set() };
    labels.set(source, label);
    label.texts.add(text);
  }
  return [...labels.values()].map(({ at: [x, y], texts }) => {
    const [first, ...rest] = texts;
    const text = rest.length > 1 ? `${first} …` : [first, ...rest].join(" · ");
    return svg("text", { class: "sub flowing", x: x - 5, y: y + 13, "text-anchor": "end" }, text);
  });
}

/** Between two points a line leaves and arrives upright. @param {number[]} points x, y, x, y, ... */
export function path(points) {
  let d = `M${points[0]} ${points[1]}`;
  for (let i = 2; i < points.length; i += 2) {
    const [fromX, fromY, x, y] = points.slice(i - 2, i + 2);
    const middle = (fromY + y) / 2;
    d += Math.abs(fromX - x) < 0.5 ? `L${x} ${y}` : `C${fromX} ${middle} ${x} ${middle} ${x} ${y}`;
  }
  return d;
}
