// Sequential colour scale of heat maps, and the values that it spans.

import { calmEnds } from "./calm_range.js";

/**
 * Return a perceptually uniform colour scale from the panel's colour to the accent.
 * @param {import("./types.js").App} app
 * @returns {[number, string][]} share and colour, as Plotly's `colorscale`
 */
export function ramp(app) {
  return app.theme.dark()
    ? [
        [0, app.theme.colour("--panel")],
        [0.25, "#1d4f63"],
        [0.6, "#2e9c9a"],
        [1, "#f3f5b0"],
      ]
    : [
        [0, app.theme.colour("--panel")],
        [0.25, "#a8d5d3"],
        [0.6, "#1f8a93"],
        [1, "#123a5c"],
      ];
}

/**
 * Ends of a colour scale and the number of values beyond them.
 * @typedef {{low: number, high: number, beyond: number}} ColourRange
 */

/**
 * Return the range of values that colours span: all finite ones, or all but outliers that would leave the
 * others one colour. Null without a finite value.
 * @param {ArrayLike<number>} values
 * @returns {ColourRange | null}
 */
export function colourRange(values) {
  const calm = calmEnds(values);
  if (calm?.outside && calm.most > calm.least) {
    return { low: calm.least, high: calm.most, beyond: calm.outside };
  }
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  return low <= high ? { low, high, beyond: 0 } : null;
}
