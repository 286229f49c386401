// Card of groups of runs for one tag: each group as a mean with its band.

import { chartCard, plotArea } from "../../components/chart_card.js";
import { h, replace } from "../../core/dom.js";
import { leaveAsIs } from "../../core/latest.js";
import { button } from "../../components/button.js";
import { bandSheet, bandTraces, calmBands, faint, lineOn } from "./band.js";
import { endsRequest, endsTable } from "./group_ends.js";
import { smoothing } from "./options.js";

/** @typedef {{label: string, runs: string[]}} Group */

export const MOST = 12; // groups drawn: of more none is followed by eye
const LIGHTER = 0.45; // opacity of a mean that not all runs of the group reach
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
 * Return a band with a gap before each step at which the set of runs changes. Without the gap the mean would
 * seem to fall or rise there.
 * @param {import("../../core/answers.js").GroupBand} band
 */
export function withGaps(band) {
  const rows = Array.from(band.counted).flatMap((n, i) => (i && n !== band.counted[i - 1] ? [-i, i] : [i]));
  const taken = (/** @type {ArrayLike<number>} */ values) =>
    Float64Array.from(rows, (row) => (row < 0 ? NaN : values[row]));
  const whole = (/** @type {ArrayLike<number>} */ values) =>
    Float64Array.from(rows, (row) => values[Math.abs(row)]);
  const { step, curves, counted, mean, deviation, low, high } = band;
  const columns = { mean: taken(mean), deviation: taken(deviation), low: taken(low), high: taken(high) };
  return { ...band, ...columns, step: whole(step), curves: whole(curves), counted: whole(counted) };
}

/**
 * Return the mean where all runs of a group reach its steps, and where not, from the step before on.
 * @param {import("../../core/answers.js").GroupBand} band
 * @returns {[Float64Array, Float64Array]}
 */
export function reachedByAll({ mean, curves, jobs }) {
  const all = (/** @type {number} */ i) => curves[i] === jobs;
  return [
    mean.map((value, i) => (all(i) ? value : NaN)),
    mean.map((value, i) => (all(i) && (i + 1 >= mean.length || all(i + 1)) ? NaN : value)),
  ];
}

/**
 * Return the traces of a group, whose tooltip says how many of its runs reach a step. Its line is lighter
 * where these are not all.
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
  const alone = Array.from(band.mean.keys()).filter((i) => isAlone(band.mean, i));
  if (alone.length && band.mean.length > 1) {
    traces.unshift(lonePoints(band, alone, to, groupColour(app, index)));
  }
  const line = { ...traces.pop(), text, hovertemplate: "%{customdata:.4g} (%{text})" };
  const [full, partial] = reachedByAll(band);
  if (!partial.some(Number.isFinite)) return [...traces, line];
  const color = faint(groupColour(app, index), LIGHTER);
  const lighter = {
    ...line,
    ...lineOn(band.step, partial, to),
    line: { color, width: 2 },
    hoverinfo: "skip",
  };
  const whole = { ...line, y: Float64Array.from(full, to) };
  return [...traces, { ...lighter, marker: { color, size: 6 }, hovertemplate: undefined }, whole];
}

/**
 * Return whether a value has gaps on both sides, so that no line shows it.
 * @param {Float64Array} mean
 * @param {number} i
 */
export function isAlone(mean, i) {
  return Number.isFinite(mean[i]) && !Number.isFinite(mean[i - 1]) && !Number.isFinite(mean[i + 1]);
}

/**
 * Return the trace of means between two gaps.
 * @param {import("../../core/answers.js").GroupBand} band
 * @param {number[]} rows
 * @param {(v: number) => number} to
 * @param {string} color
 */
function lonePoints({ step, mean }, rows, to, color) {
  const marker = { symbol: "circle", size: 5, color };
  const [x, y] = [rows.map((i) => step[i]), rows.map((i) => to(mean[i]))];
  return { type: "scatter", mode: "markers", x, y, marker, hoverinfo: "skip" };
}

/**
 * Return how many runs the groups have, and how many of them do not count at the last step, or count there
 * with an earlier value.
 * @param {import("../../core/types.js").App} app
 * @param {import("../../core/answers.js").GroupBand[]} bands
 */
function countsOf({ t }, bands) {
  const n = bands.reduce((sum, { jobs }) => sum + jobs, 0);
  const last = (/** @type {"curves" | "counted"} */ name) =>
    bands.reduce((sum, band) => sum + (band[name].at(-1) ?? 0), 0);
  const [out, held] = [n - last("counted"), last("counted") - last("curves")];
  const note = (/** @type {string} */ key, /** @type {number} */ runs) =>
    runs > 0 && h("span", { class: "muted" }, t(key, { n: runs }));
  return [t("scalar.groups.foot", { n }), note("scalar.groups.out", out), note("scalar.groups.held", held)];
}

/**
 * Return bands whose ranges are what is drawn of them: of many only the mean with a standard deviation.
 * @param {import("../../core/answers.js").GroupBand[]} bands
 */
function extents(bands) {
  if (bands.length <= WITH_RANGE) return bands;
  return bands.map((band) => {
    const [low, high] = around(band);
    return { ...band, low, high };
  });
}

/**
 * Create the card of a tag for groups of runs: each group as its mean with a band.
 * @param {import("./card.js").Page} page
 * @param {string} tag
 * @param {() => Group[]} groups
 * @param {(tag: string, bands: import("../../core/answers.js").GroupBand[]) => void} noted what is claimed
 * @param {() => number} criteria of which the one that separates the groups best was chosen
 */
export function groupCard(page, tag, groups, noted, criteria) {
  const { app } = page;
  const plot = plotArea(tag);
  const counts = h("div", { class: "row small wrap" });
  const table = h("div", { class: "small" });
  const foot = h("div", null, counts, table);
  let last = /** @type {import("./group_ends.js").GroupEnds | null} */ (null);
  /** @type {import("../../core/answers.js").GroupBand[]} */
  let bands = [];
  /** Those that the bands are of. @type {Group[]} */
  let visible = [];
  let whole = false; // whether values far outside the others are to be seen
  const showFoot = () => {
    if (!bands.length) return; // nothing has come yet
    const clipped = !whole && page.options().y === "linear" && calmBands(extents(bands));
    const more = () => {
      whole = true;
      showFoot();
      paint();
    };
    const colour = (/** @type {number} */ i) => groupColour(app, i);
    replace(table, endsTable(app, last, visible, colour));
    replace(
      counts,
      countsOf(app, bands),
      clipped && button(app.t("scalar.groups.outside"), more, { class: "badge warn" }),
    );
  };
  const figure = () => {
    const ranges = bands.length <= WITH_RANGE;
    const drawn = extents(bands);
    const { to, layout } = bandSheet(page, drawn, whole ? null : calmBands(drawn));
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
        Promise.all([
          app.api.get("v2/scalar/ends", endsRequest(tag, selected, how.ended, criteria()), { signal }),
          ...selected.map(({ runs }) => app.api.columns("v2/scalar/band", { ...how, run: runs }, { signal })),
        ]),
      ([ends, ...responses]) => {
        [last, visible, bands] = [ends, selected, responses.map(withGaps)];
        showFoot();
        noted(tag, bands);
        paint();
      },
      leaveAsIs,
    );
  };
  const box = chartCard(app, { title: tag, plots: [plot], foot, load });
  return { ...box, paint: () => (showFoot(), paint()) };
}
