// Card of groups of runs for one tag: each group as a mean with its band.

import { chartCard, plotArea } from "../../components/chart_card.js";
import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { leaveAsIs } from "../../core/latest.js";
import { bandSheet, bandTraces } from "./band.js";
import { smoothing } from "./options.js";

/** @typedef {{label: string, runs: string[]}} Group */

export const MOST = 12; // groups drawn: of more none is followed by eye

/**
 * Return the colour of a group.
 * @param {import("../../core/types.js").App} app
 * @param {number} index of the group
 */
export function groupColour(app, index) {
  return app.theme.colour(`--run-${(index % MOST) + 1}`);
}

/**
 * Return the traces of a group, whose tooltip says how many of its runs reach a step.
 * @param {import("../../core/types.js").App} app
 * @param {import("../../core/answers.js").GroupBand} band
 * @param {number} index of the group
 * @param {string} label
 * @param {(v: number) => number} to
 */
function groupTraces(app, band, index, label, to) {
  const { mean: line, deviation } = band;
  const away = (/** @type {number} */ sign) => line.map((mean, i) => mean + sign * deviation[i]);
  const traces = bandTraces({
    band,
    line,
    around: [away(-1), away(1)],
    colour: groupColour(app, index),
    label,
    to,
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
    const { to, layout } = bandSheet(page, bands);
    const data = bands.flatMap((band, i) =>
      band.runs.length ? groupTraces(app, band, i, visible[i].label, to) : [],
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
        [visible, bands] = [selected, responses];
        const runs = bands.reduce((sum, band) => sum + band.jobs, 0);
        const claims = bands.flatMap((band) => band.claims);
        replace(
          foot,
          app.t("scalar.groups.foot", { n: runs }),
          claims.map((claim) => claimElement(app, claim)),
        );
        paint();
      },
      leaveAsIs,
    );
  };
  const box = chartCard(app, { title: tag, plots: [plot], foot, load });
  return { ...box, paint };
}
