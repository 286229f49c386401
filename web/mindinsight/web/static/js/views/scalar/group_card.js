// Card of groups of runs for one tag: each group as a mean with its band.

import { chartCard, plotArea } from "../../components/chart_card.js";
import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { leaveAsIs } from "../../core/latest.js";
import { bandSheet, bandTraces } from "./band.js";
import { smoothing } from "./options.js";

/** @typedef {{label: string, runs: string[]}} Group */

export const MOST = 12; // groups drawn: of more none is followed by eye
export const WITH_RANGE = 3; // groups whose ranges can be told apart where they overlap

/**
 * Return the colour of a group.
 * @param {import("../../core/types.js").App} app
 * @param {number} index of the group
 */
export function groupColour(app, index) {
  return app.theme.colour(`--run-${(index % MOST) + 1}`);
}

/**
 * Return the ends of one standard deviation around the mean, within the values of the runs.
 * @param {import("../../core/answers.js").GroupBand} band
 * @returns {[Float64Array, Float64Array]}
 */
export function around({ mean, deviation, low, high }) {
  return [
    mean.map((value, i) => Math.max(value - deviation[i], low[i])),
    mean.map((value, i) => Math.min(value + deviation[i], high[i])),
  ];
}

/**
 * Return a band with a gap before each step at which a run no longer counts: without it the mean would seem
 * to fall or rise there, although only its runs are others.
 * @param {import("../../core/answers.js").GroupBand} band
 */
export function withGaps(band) {
  const rows = Array.from(band.curves).flatMap((n, i) => (i && n < band.curves[i - 1] ? [-i, i] : [i]));
  const taken = (/** @type {ArrayLike<number>} */ values) =>
    Float64Array.from(rows, (row) => (row < 0 ? NaN : values[row]));
  const whole = (/** @type {ArrayLike<number>} */ values) =>
    Float64Array.from(rows, (row) => values[Math.abs(row)]);
  const { step, curves, mean, deviation, low, high } = band;
  const columns = { mean: taken(mean), deviation: taken(deviation), low: taken(low), high: taken(high) };
  return { ...band, ...columns, step: whole(step), curves: whole(curves) };
}

/**
 * Return the traces of a group, whose tooltip says how many of its runs reach a step.
 * @param {import("../../core/types.js").App} app
 * @param {import("../../core/answers.js").GroupBand} band
 * @param {number} index of the group
 * @param {string} label
 * @param {(v: number) => number} to
 * @param {boolean} ranges whether the areas from the smallest to the largest value are drawn
 */
function groupTraces(app, band, index, label, to, ranges) {
  const traces = bandTraces({
    band,
    line: band.mean,
    around: around(band),
    colour: groupColour(app, index),
    label,
    to,
    ranges,
  });
  const text = Array.from(band.curves, (n) => app.t("scalar.groups.reach", { reach: n, n: band.jobs }));
  traces.push({ ...traces.pop(), text, hovertemplate: "%{customdata:.4g} (%{text})" });
  return traces;
}

/**
 * Create the card of a tag for groups of runs: each group as its mean with a band.
 * @param {import("./card.js").Page} page
 * @param {string} tag
 * @param {() => Group[]} groups
 */
export function groupCard(page, tag, groups) {
  const { app } = page;
  const plot = plotArea(tag);
  const foot = h("div", { class: "small" });
  /** @type {import("../../core/answers.js").GroupBand[]} */
  let bands = [];
  /** Those that the bands are of. @type {Group[]} */
  let visible = [];
  const figure = () => {
    const ranges = bands.length <= WITH_RANGE;
    const drawn = bands.map((band) => {
      const [low, high] = around(band);
      return ranges ? band : { ...band, low, high };
    });
    const { to, layout } = bandSheet(page, drawn);
    const data = bands.flatMap((band, i) =>
      band.runs.length ? groupTraces(app, band, i, visible[i].label, to, ranges) : [],
    );
    return { data, layout, sketch: true };
  };
  const paint = () => app.charts.draw(plot, figure);
  const load = () => {
    const selected = groups();
    const px = Math.max(200, Math.min(800, plot.clientWidth || 400));
    const how = { tag, px, ended: page.options().ended, ...smoothing(page.options()) };
    box.requests.ask(
      (signal) =>
        Promise.all(
          selected.map(({ runs }) => app.api.columns("v2/scalar/band", { ...how, run: runs }, { signal })),
        ),
      (responses) => {
        [visible, bands] = [selected, responses.map(withGaps)];
        const runs = bands.reduce((sum, band) => sum + band.jobs, 0);
        replace(foot, app.t("scalar.groups.foot", { n: runs }), notes(app, visible, bands));
        paint();
      },
      leaveAsIs,
    );
  };
  const box = chartCard(app, { title: tag, plots: [plot], foot, load });
  return { ...box, paint };
}

/**
 * Create the claims about groups, each below the name of its group; several are folded, so that cards in a
 * row keep their height.
 * @param {import("../../core/types.js").App} app
 * @param {Group[]} groups
 * @param {import("../../core/answers.js").GroupBand[]} bands
 */
function notes(app, groups, bands) {
  const rows = bands.flatMap(({ claims }, i) =>
    claims.map((claim) =>
      h(
        "div",
        null,
        h("i", { class: "swatch", style: { background: groupColour(app, i) } }),
        h("b", null, ` ${groups[i].label} `),
        claimElement(app, claim),
      ),
    ),
  );
  if (rows.length < 2) return rows;
  return h("details", null, h("summary", null, app.t("scalar.groups.notes", { n: rows.length })), rows);
}
