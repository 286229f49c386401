// Footer of a chart: number of points, restarts, clipped runs, non-finite values.

import { button } from "../../components/button.js";
import { NOT_FINITE_BADGE } from "../../components/hatching.js";
import { h } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { smoothedValues } from "./curve.js";
import { ticksFor } from "./ticks.js";
import { clippedLines } from "./value_axis.js";

/** @typedef {import("./curve.js").Line} Line */

const AROUND = 20; // steps shown before and after the first value that is not finite
const SIGNS = { nan: "NaN", inf: "+Inf", "-inf": "−Inf" };

/**
 * Create the footer.
 * @param {import("./card.js").Page} page
 * @param {Line[]} lines
 * @param {string} key of the chart
 */
export function footOf(page, lines, key) {
  const { app } = page;
  const points = lines.reduce((sum, line) => sum + line.curve.points, 0);
  const visible = lines.reduce((sum, line) => sum + line.curve.step.length, 0);
  const restarts = lines.filter((line) => line.curve.overwritten_points > 0).length;
  return [
    h(
      "span",
      { class: "grow" },
      app.t("scalar.points", { shown: visible.toLocaleString("en"), all: points.toLocaleString("en") }),
    ),
    lines.some(({ curve }) => curve.low) &&
      h("span", { class: "muted", title: app.t("scalar.job.band_how") }, app.t("scalar.job.band")),
    restarts > 0 && h("span", { class: "badge" }, app.t("scalar.restarts", { n: restarts })),
    clippedButtons(page, lines, key),
    notFiniteButton(page, lines),
  ];
}

/**
 * Create buttons that name the runs outside the range and show them, or return null.
 * @param {import("./card.js").Page} page
 * @param {Line[]} lines
 * @param {string} key of the chart
 */
function clippedButtons({ app, options, change }, lines, key) {
  const { tall } = options();
  const clipped = clippedLines(lines, options(), tall.get(key));
  if (!clipped) return null;
  const ends = ticksFor(
    "linear",
    lines.flatMap(({ curve }) => [curve.value, smoothedValues(curve)]),
  )?.range;
  return /** @type {const} */ (["above", "below"])
    .filter((side) => clipped[side].length)
    .map((side) => {
      const names = clipped[side].map(({ label }) => label);
      const text = app.t(`scalar.clipped.${side}`, { n: names.length, names: names.join(", ") });
      const show = () => ends && change({ tall: new Map(tall).set(key, ends) });
      const title = app.t("scalar.clipped.show");
      return button(text, show, { class: "badge warn ellipsis", title });
    });
}

/**
 * Create the button that counts non-finite values and goes to the first, or return null.
 * @param {import("./card.js").Page} page
 * @param {Line[]} lines
 */
function notFiniteButton(page, lines) {
  const { app } = page;
  const counts = notFinite(lines.flatMap((line) => line.curve.non_finite));
  if (!counts) return null;
  const text = app.t("scalar.non_finite", {
    kinds: counts.kinds.join(", "),
    n: counts.total,
    step: number(counts.first, 12),
  });
  const go = () =>
    page.change({ x: "step", at: counts.first, zoom: [counts.first - AROUND, counts.first + AROUND] });
  return button(text, go, { class: NOT_FINITE_BADGE, title: app.t("scalar.non_finite.go") });
}

/**
 * Return number, first step and kinds of non-finite values, or null if there are none.
 * @param {[string, number, number, number][]} ranges kind, first step, last step, how many
 * @returns {{total: number, first: number, kinds: string[]} | null} null when all is finite
 */
export function notFinite(ranges) {
  if (!ranges.length) return null;
  return {
    total: ranges.reduce((sum, [, , , count]) => sum + count, 0),
    first: ranges.reduce((least, [, step]) => Math.min(least, step), Infinity),
    kinds: [...new Set(ranges.map(([kind]) => SIGNS[/** @type {keyof SIGNS} */ (kind)] ?? kind))],
  };
}
