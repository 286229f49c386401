// Curve as the server sends it, and the positions of its points on the x axis.

import { madeClaim } from "../../core/claims.js";
import { DASHES } from "../../core/colours.js";
import { tagText } from "./options.js";

const NAMED = 3; // runs in a sentence

/**
 * @typedef {Object} Curve
 * @property {string} run
 * @property {string} [job] of the ranks whose median this is; `run` is the lowest of them
 * @property {number} [ranks] how many
 * @property {Float64Array} [low] the range over the ranks
 * @property {Float64Array} [high]
 * @property {number} generation
 * @property {number} count points recorded
 * @property {number} points points of the line
 * @property {number} overwritten_points
 * @property {[number, number, number | string]} last step, wall, value
 * @property {[string, number, number, number][]} non_finite kind, first step, last step, how many
 * @property {[number, number][]} [gaps] the steps around intervals that are far wider than usual
 * @property {Float64Array} step
 * @property {Float64Array} wall
 * @property {Float32Array | Float64Array} value
 * @property {Float64Array} [x]
 * @property {Float64Array} [smooth]
 * @property {{step: Float64Array, wall: Float64Array, value: Float64Array, x?: Float64Array}[]} [overwritten]
 * @property {Inherited[]} [inherited] of the runs that this one continues, up to the fork
 */

/** @typedef {Positions & {run: string, value: Float64Array, smooth?: Float64Array}} Inherited */
/**
 * One curve of a chart: label, colour and dash, its points, and before it those of runs that it continues and
 * that have no curve of their own here.
 * In a chart of many, `quiet` ones are gray, and `order` is the place by last value.
 * @typedef {{label: string, colour: string, dash: string, curve: Curve, before?: Inherited[],
 *   quiet?: boolean, order?: number, role?: import("./highlight.js").Role}} Line
 */

/** Where the points of a curve may be drawn. @typedef {Pick<Curve, "step" | "wall" | "x">} Positions */
/** @typedef {{x: import("./scale.js").Scale, y: import("./scale.js").Scale}} Scales */

/**
 * Return the positions of a curve's points in Plotly's units; milliseconds for wall time.
 * @param {Positions} curve
 * @param {string} axis
 */
export function xColumn(curve, axis) {
  if (axis === "step") return curve.step;
  if (axis === "wall") return Float64Array.from(curve.wall, (seconds) => seconds * 1000);
  return curve.x ?? new Float64Array();
}

/**
 * Return the rows after which a curve has a gap.
 * @param {Pick<Curve, "step" | "gaps">} curve
 * @returns {number[]}
 */
export function gapRows({ step, gaps = [] }) {
  return gaps
    .map(([from]) => step.findLastIndex((at) => at <= from))
    .filter((row, i) => row >= 0 && step[row + 1] >= gaps[i][1]);
}

/**
 * Return the claim that times of curves go back, on an axis of times, where the curves do so, too.
 * @param {{label: string, curve: Pick<Curve, "wall">}[]} lines
 * @param {string} axis
 */
export function timeClaims(lines, axis) {
  if (axis !== "wall" && axis !== "relative") return [];
  const back = lines.filter(({ curve: { wall } }) => wall.some((at, i) => at < wall[i - 1]));
  const names = back.slice(0, NAMED).map(({ label }) => label);
  const more = back.length > NAMED ? ["…"] : [];
  return back.length
    ? [madeClaim("claim.scalar.time_back", "found", { n: back.length, names: [...names, ...more] })]
    : [];
}

/** Return the values that the server smoothed, or else the recorded ones. @param {Curve} curve */
export function smoothedValues(curve) {
  return curve.smooth ?? curve.value;
}

/**
 * Return whether a position lies between a curve's first and last point.
 * @param {Curve} curve
 * @param {string} x
 * @param {number} at
 */
export function reaches(curve, x, at) {
  const column = xColumn(curve, x);
  if (x.startsWith("tag:")) return column.length > 0; // another scalar goes up and down
  return column.length > 0 && column[0] <= at && at <= column[column.length - 1];
}

/**
 * Return the name of a run, or of the job whose median the curve is.
 * @param {import("../../core/types.js").App} app
 * @param {Curve} curve
 */
export function curveName({ selection, t }, { run, job, ranks }) {
  if (!job) return selection.run(run)?.name ?? run;
  return t("scalar.job", { job: job.slice(2) || ".", n: ranks });
}

/**
 * Return the lines of a chart with labels and colours, tag by tag.
 * @param {import("../../core/types.js").App} app
 * @param {string[]} tags of the chart
 * @param {Map<string, Curve[]>} curves by tag
 * @returns {Line[]}
 */
export function linesOf(app, tags, curves) {
  const { selection } = app;
  const several = tags.length > 1;
  return tags.flatMap((tag, number) => {
    const shown = new Set((curves.get(tag) ?? []).map(({ run }) => run));
    return (curves.get(tag) ?? []).map((curve) => {
      const name = curveName(app, curve);
      return {
        label: several ? `${name} · ${tagText(tag)}` : name,
        colour: selection.colour(curve.run),
        dash: several ? DASHES[number % DASHES.length] : selection.dash(curve.run),
        curve,
        before: curve.inherited?.filter(({ run }) => !shown.has(run)),
      };
    });
  });
}

/**
 * Return the curve of a line, its overwritten intervals, and the curves of the runs that it continues.
 * @param {Line} line
 */
export function stretchesOf({ curve, before = [] }) {
  return [curve, ...(curve.overwritten ?? []), ...before];
}
