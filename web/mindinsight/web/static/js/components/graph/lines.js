// Lines of a drawing and the texts of the shapes that flow along them.

import { svg } from "../../core/dom.js";

/** @typedef {import("./shapes.js").Line} Line */
/** @typedef {import("./shapes.js").Picture} Picture */

const LETTER = 7; // about the width of one
const BESIDE = 14; // the least gap between a box and the frame around it, less some

/**
 * Create the SVG path of a line.
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
 * Create the SVG texts of the shapes that leave scopes, where they differ from those that enter. They are
 * never wider than the box and its gap. Operators show their own shapes.
 * @param {Picture} picture
 */
export function flowing({ boxes, lines }) {
  const scopes = new Map(boxes.filter((box) => box.count > 0).map((box) => [box.id, box]));
  const entering = enteringTexts(boxes, lines);
  /** @type {Map<number, {at: number[], texts: Set<string>}>} */
  const labels = new Map();
  for (const { source, text, points } of lines) {
    if (!text || !scopes.has(source) || entering(source).has(text) || points[3] <= points[1]) continue;
    const label = labels.get(source) ?? { at: points, texts: new Set() };
    labels.set(source, label);
    label.texts.add(text);
  }
  return [...labels].map(
    ([
      id,
      {
        at: [x, y],
        texts,
      },
    ]) => {
      const room = (scopes.get(id)?.w ?? 0) + 2 * BESIDE;
      const [first, ...rest] = texts;
      const choices = [
        [first, ...rest].join(" · "),
        rest.length ? `${first} …` : (first.split(" ").pop() ?? ""),
      ];
      const text = choices.find((choice) => choice.length * LETTER <= room);
      return text && svg("text", { class: "sub flowing", x, y: y + 15, "text-anchor": "middle" }, text);
    },
  );
}

/**
 * Return a lookup of the shapes that flow into each box, also across the borders of scopes around it.
 * @param {import("./shapes.js").Box[]} boxes
 * @param {Line[]} lines
 * @returns {(id: number) => Set<string>}
 */
function enteringTexts(boxes, lines) {
  const parents = new Map(boxes.map((box) => [box.id, box.parent]));
  /** @type {Map<number, Line[]>} */
  const arriving = new Map();
  for (const line of lines) {
    if (parents.get(line.source) === line.target) continue; // ends at the border of its scope
    const others = arriving.get(line.target);
    if (others) others.push(line);
    else arriving.set(line.target, [line]);
  }
  /** @type {Map<number, Set<string>>} */
  const known = new Map();
  const texts = (/** @type {number} */ id) => {
    const found = known.get(id) ?? new Set();
    if (known.has(id)) return found;
    known.set(id, found);
    for (const { source, text, values } of arriving.get(id) ?? []) {
      if (values) found.add(text);
      else texts(source).forEach((outer) => found.add(outer));
    }
    return found;
  };
  return texts;
}

/**
 * Return an SVG path that leaves and arrives vertically at each point.
 * @param {number[]} points x, y, x, y, ...
 */
export function path(points) {
  let d = `M${points[0]} ${points[1]}`;
  for (let i = 2; i < points.length; i += 2) {
    const [fromX, fromY, x, y] = points.slice(i - 2, i + 2);
    const middle = (fromY + y) / 2;
    d += Math.abs(fromX - x) < 0.5 ? `L${x} ${y}` : `C${fromX} ${middle} ${x} ${middle} ${x} ${y}`;
  }
  return d;
}
