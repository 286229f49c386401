// Colour of a run on the scale of an objective.

import { between } from "../core/colours.js";
import { ramp } from "../core/ramp.js";

/** The ramp begins in the panel's colour, which no line may have. */
const START = 0.2;

/**
 * Return the colour scale without its palest part, for dots and lines on a panel.
 * @param {import("../core/types.js").App} app
 * @returns {[number, string][]}
 */
export function inkRamp(app) {
  const stops = /** @type {[number, string][]} */ (ramp(app));
  return [0, 0.25, 0.5, 0.75, 1].map((at) => [at, between(stops, START + (1 - START) * at)]);
}

/**
 * Return a function that gives a row's colour by its objective. Rows without a finite objective are gray.
 * @param {import("../core/types.js").App} app
 * @param {{run: string, values: Record<string, unknown>}[]} rows
 * @param {string} objective
 * @returns {(row: {run: string, values: Record<string, unknown>}) => string}
 */
export function tint(app, rows, objective) {
  const values = rows.map((row) => Number(row.values[objective])).filter(Number.isFinite);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const stops = /** @type {[number, string][]} */ (ramp(app));
  return (row) => {
    const value = row.values[objective] === undefined ? NaN : Number(row.values[objective]);
    if (!Number.isFinite(value)) return app.theme.colour("--muted");
    return between(stops, START + (1 - START) * (high > low ? (value - low) / (high - low) : 1));
  };
}
