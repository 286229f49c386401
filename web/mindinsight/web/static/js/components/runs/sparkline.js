// Sparkline: a curve as small as a word.

import { svg } from "../../core/dom.js";

const WIDTH = 96;
const HEIGHT = 22;

/**
 * Create a small SVG line of a run's values, with gaps at non-finite values.
 * @param {ArrayLike<number> | undefined} values
 * @param {string} colour
 */
export function sparkline(values, colour) {
  if (!values || !values.length) return "";
  const finite = Array.from(values).filter(Number.isFinite);
  const low = Math.min(...finite);
  const span = Math.max(...finite) - low || 1;
  const x = (/** @type {number} */ i) =>
    values.length > 1 ? (i / (values.length - 1)) * (WIDTH - 4) + 2 : WIDTH / 2;
  const y = (/** @type {number} */ v) => HEIGHT - 3 - ((v - low) / span) * (HEIGHT - 6);
  let path = "";
  let pen = false;
  for (let i = 0; i < values.length; i++) {
    const good = Number.isFinite(values[i]);
    if (good) path += `${pen ? "L" : "M"}${x(i).toFixed(1)} ${y(values[i]).toFixed(1)}`;
    pen = good;
  }
  return svg(
    "svg",
    {
      class: "spark",
      width: WIDTH,
      height: HEIGHT,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      "aria-hidden": "true",
    },
    svg("path", { d: path, fill: "none", stroke: colour, "stroke-width": 1.5, "stroke-linejoin": "round" }),
  );
}
