// Tooltip of the line under the pointer: the values that flow along it.

import { replace, svg } from "../../core/dom.js";

/** @typedef {import("./shapes.js").Line} Line */
/** @typedef {import("./shapes.js").Picture} Picture */

const NEAR = 7; // pixels
const STEPS = 8; // pieces of a curve that are looked at

/**
 * Return the index of the line nearest to a point within a distance, or -1.
 * @param {Line[]} lines
 * @param {number} x
 * @param {number} y
 * @param {number} within
 * @returns {number} its place, -1 for none
 */
export function lineUnder(lines, x, y, within) {
  let best = -1;
  let least = within;
  lines.forEach(({ points }, i) => {
    for (let at = 2; at < points.length; at += 2) {
      const far = distance(points.slice(at - 2, at + 2), x, y, within);
      if (far < least) [best, least] = [i, far];
    }
  });
  return best;
}

/**
 * Return the distance from a point to a curve that leaves and arrives vertically. Curves clearly farther than
 * `within` return Infinity.
 * @param {number[]} curve x and y of both ends
 * @param {number} x
 * @param {number} y
 * @param {number} within
 */
function distance([fromX, fromY, toX, toY], x, y, within) {
  if (x < Math.min(fromX, toX) - within || x > Math.max(fromX, toX) + within) return Infinity;
  if (y < Math.min(fromY, toY) - within || y > Math.max(fromY, toY) + within) return Infinity;
  let least = Infinity;
  let [beforeX, beforeY] = [fromX, fromY];
  for (let step = 1; step <= STEPS; step++) {
    const t = step / STEPS;
    const bent = t * t * (3 - 2 * t); // of x, when both handles lie above and below the ends
    const half = 1.5 * t - 1.5 * t * t + t * t * t; // of y, when both handles lie half-way
    const [nextX, nextY] = [fromX + (toX - fromX) * bent, fromY + (toY - fromY) * half];
    least = Math.min(least, toPiece(x - beforeX, y - beforeY, nextX - beforeX, nextY - beforeY));
    [beforeX, beforeY] = [nextX, nextY];
  }
  return least;
}

/**
 * Return the distance from a point to a straight segment that begins at the origin.
 * @param {number} x
 * @param {number} y
 * @param {number} dx
 * @param {number} dy
 */
function toPiece(x, y, dx, dy) {
  const length = dx * dx + dy * dy;
  const along = length ? Math.min(1, Math.max(0, (x * dx + y * dy) / length)) : 0;
  return Math.hypot(x - along * dx, y - along * dy);
}

/** Create the tooltip of the line under the pointer. @param {import("../../core/types.js").Translate} t */
export function createHover(t) {
  /** @type {Picture | null} */
  let picture = null;
  /** @type {import("./shapes.js").Shapes | null} */
  let shapes = null;
  let on = -1;
  const element = svg("g", { class: "hovered" });

  /** @param {Line} line */
  const words = (line) => {
    const name = (/** @type {number} */ id) => picture?.boxes.find((box) => box.id === id)?.label ?? "";
    const kind = line.control
      ? t("graph.line.control")
      : line.text || (line.values > 1 ? t("graph.line.several", { n: line.values }) : "");
    return [kind, `${name(line.source)} → ${name(line.target)}`].filter(Boolean);
  };

  const leave = () => {
    shapes?.lines[on]?.element.classList.remove("hover");
    on = -1;
    replace(element);
  };

  return {
    element,
    leave,

    /** The line under the pointer. @returns {Line | null} */
    line: () => picture?.lines[on] ?? null,

    /** Another picture. @param {Picture} next @param {import("./shapes.js").Shapes} nextShapes */
    show(next, nextShapes) {
      leave();
      [picture, shapes] = [next, nextShapes];
    },

    /**
     * The pointer is at a point of the drawing.
     * @param {number} x
     * @param {number} y
     * @param {number} k scale
     */
    move(x, y, k) {
      if (!picture || !shapes) return;
      const line = lineUnder(picture.lines, x, y, NEAR / k);
      if (line !== on) leave();
      if (line < 0) return;
      on = line;
      shapes.lines[on].element.classList.add("hover");
      const rows = words(picture.lines[on]);
      replace(
        element,
        rows.map((row, i) => svg("text", { x: 0, y: 15 * (i - rows.length), class: i ? "sub" : "" }, row)),
      );
      element.setAttribute("transform", `translate(${x} ${y}) scale(${1 / k})`);
    },
  };
}
