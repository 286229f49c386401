// Footer of a chart: number of points, restarts, clipped runs, non-finite values.

import { button } from "../../components/button.js";
import { NON_FINITE_BADGE } from "../../components/hatching.js";
import { longName } from "../../components/long_name.js";
import { claimText } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { sharedPath } from "../../core/names.js";
import { reaches, smoothedValues, timeClaims, xColumn } from "./curve.js";
import { MANY } from "./figure.js";
import { namedLines } from "./highlight.js";
import { closest } from "./nearest.js";
import { extent, ticksFor } from "./ticks.js";
import { clippedLines, cutBands } from "./value_axis.js";

/** @typedef {import("./curve.js").Line} Line */

const AROUND = 20; // steps shown before and after the first value that is not finite
const SIGNS = { nan: "NaN", inf: "+Inf", "-inf": "−Inf" };

const NAMED = 3; // runs outside the range that are named
const ROW = 12; // curves in a legend of one row
const MOST = 200; // curves in a legend of all

/**
 * Create the legend of a chart of several curves: names and last values, or those under the cursor; one row,
 * or all.
 * @param {import("./card.js").Page} page
 */
export function createLegend(page) {
  const { app } = page;
  const list = h("ul", { class: "legend-list", "aria-label": app.t("scalar.legend") });
  const all = button("", () => page.change({ legend: !page.options().legend }), { class: "link" });
  const element = h("div", { class: "curve-legend row small", hidden: true }, list, all);
  /** @type {{line: Line, value: HTMLElement}[]} */
  let rows = [];
  let looks = "";
  /** @param {number | null} x */
  const at = (x) => {
    const axis = page.options().x;
    for (const { line, value } of rows) {
      const text = valueText(line.curve, axis, x);
      if (value.textContent !== text) value.textContent = text;
    }
  };
  return {
    element,
    at,
    /** @param {Line[]} lines */
    show(lines) {
      const open = page.options().legend;
      const shown = namedLines(lines, open, open ? MOST : ROW);
      element.hidden = !shown.length;
      element.classList.toggle("open", open);
      element.classList.toggle(
        "roles",
        shown.some(({ role }) => role),
      );
      element.classList.toggle("complete", shown.length === lines.length);
      all.textContent = open ? app.t("scalar.legend.fewer") : app.t("scalar.legend.all", { n: lines.length });
      const next = JSON.stringify(shown.map(({ label, colour, dash, role }) => [label, colour, dash, role]));
      if (next !== looks) {
        const start = sharedPath(lines.map(({ label }) => label));
        rows = shown.map((line) => ({ line, value: h("span", { class: "value" }) }));
        replace(
          list,
          rows.map(({ line, value }, i) => [
            line.role !== rows[i - 1]?.line.role &&
              h("li", { class: "muted" }, line.role && app.t(`scalar.role.${line.role}`)),
            legendRow(app, line, value, start),
          ]),
        );
      }
      looks = next;
      rows.forEach((row, i) => (row.line = shown[i]));
      at(null);
    },
  };
}

/**
 * @param {import("../../core/types.js").App} app @param {Line} line @param {HTMLElement} value
 * @param {string} start that names share
 */
function legendRow({ selection }, { label, colour, curve }, value, start) {
  const pointed = (/** @type {string | null} */ id) => () => selection.point(id);
  return h(
    "li",
    { class: "row", onpointerenter: pointed(curve.run), onpointerleave: pointed(null) },
    h("i", { class: "swatch", style: { background: colour } }),
    longName(label, { start }),
    value,
  );
}

/**
 * A curve's smoothed value at a place, its recorded last one without a place; "" where the curve has none.
 * @param {import("./curve.js").Curve} curve @param {string} axis @param {number | null} x
 */
function valueText(curve, axis, x) {
  const values = smoothedValues(curve);
  if (x === null) return values.length ? number(curve.value[values.length - 1], 4) : "";
  const row = reaches(curve, axis, x) ? closest(xColumn(curve, axis), x) : -1;
  return row < 0 ? "" : number(values[row], 4);
}

/**
 * Return the text of how many points are drawn, with the time at which they were loaded if newer points may
 * have been held back since.
 * @param {import("../../core/types.js").App} app
 * @param {Line[]} lines
 * @param {number} loaded unix time in seconds
 */
export function pointsText({ live, format, t }, lines, loaded) {
  const all = lines.reduce((sum, line) => sum + line.curve.points, 0).toLocaleString("en");
  const shown = lines.reduce((sum, line) => sum + line.curve.step.length, 0).toLocaleString("en");
  const held = live.paused() || live.interval() > 0 || live.state() !== "live";
  return held
    ? t("scalar.points.at", { shown, all, time: format.time(loaded) })
    : t("scalar.points", { shown, all });
}

/**
 * Create the elements of a chart's footer: number of points, restarts, clipped runs, non-finite values. Those
 * that do not apply are false or null.
 * @param {import("./card.js").Page} page
 * @param {Line[]} lines
 * @param {string} key of the chart
 * @param {number} loaded unix time in seconds
 */
export function footOf(page, lines, key, loaded) {
  const { app } = page;
  const restarts = lines.filter((line) => line.curve.overwritten_points > 0).length;
  return [
    h("span", { class: "grow" }, pointsText(app, lines, loaded)),
    lines.some(({ curve }) => curve.low) &&
      h("span", { class: "muted", title: app.t("scalar.job.band_how") }, app.t("scalar.job.band")),
    restarts > 0 && h("span", { class: "badge" }, app.t("scalar.restarts", { n: restarts })),
    clippedButtons(page, lines, key),
    cutBandButton(page, lines, key),
    notFiniteButton(page, lines),
    unrankedLink(page, lines),
    timeClaims(lines, page.options().x).map((claim) =>
      h("span", { class: "badge warn ellipsis", "data-claim": claim.key }, claimText(app, claim)),
    ),
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
      const few = [...names.slice(0, NAMED), ...(names.length > NAMED ? ["…"] : [])];
      const text = app.t(`scalar.clipped.${side}`, { n: names.length, names: few });
      const show = () => ends && change({ tall: new Map(tall).set(key, ends) });
      const title = app.t("scalar.clipped.show");
      return button(text, show, { class: "badge warn ellipsis", title });
    });
}

/**
 * Create the button that says how far ranks lie outside a chart and shows them, or return null.
 * @param {import("./card.js").Page} page
 * @param {Line[]} lines
 * @param {string} key of the chart
 */
function cutBandButton({ app: { t }, options, change }, lines, key) {
  const { tall } = options();
  const whole = cutBands(lines, options(), lines.length > MANY, tall.get(key));
  if (!whole) return null;
  const [low, high] = /** @type {[number, number]} */ (
    extent(
      "linear",
      lines.flatMap(({ curve }) => [curve.low ?? [], curve.high ?? []]),
    )
  );
  const text = t("scalar.job.outside", { low: number(low, 3), high: number(high, 3) });
  const show = () => change({ tall: new Map(tall).set(key, whole) });
  return button(text, show, { class: "badge warn ellipsis", title: t("scalar.clipped.show") });
}

/** Return whether a last value is NaN or infinite. @param {number | undefined} end of a curve with values */
export function isUnranked(end) {
  return end !== undefined && !Number.isFinite(end);
}

/**
 * Create the link to the runs that are not ranked because they end in NaN or infinity, with their names, or
 * return null.
 * @param {import("./card.js").Page} page
 * @param {Line[]} lines
 */
function unrankedLink({ app: { t, selection }, kind }, lines) {
  const broken = lines.filter(({ curve }) => isUnranked(curve.value.at(-1)));
  if (!broken.length || !lines.some(({ role }) => role)) return null;
  const start = sharedPath(lines.map(({ label }) => label));
  const names = broken.slice(0, NAMED).map(({ label }) => (start && "…") + label.slice(start.length));
  const few = [...names, ...(broken.length > NAMED ? ["…"] : [])].join(", ");
  const href = selection.linkOnly(
    kind,
    broken.map(({ curve }) => curve.run),
  );
  const text = `${t("scalar.unranked", { n: broken.length })}: ${few}`;
  return h("a", { class: "badge warn ellipsis", href, title: t("scalar.unranked.how") }, text);
}

/**
 * Create the button that counts non-finite values and goes to the first, or return null.
 * @param {import("./card.js").Page} page
 * @param {Line[]} lines
 */
function notFiniteButton(page, lines) {
  const { app } = page;
  const counts = nonFinite(lines.flatMap((line) => line.curve.non_finite));
  if (!counts) return null;
  const text = app.t("scalar.non_finite", {
    kinds: counts.kinds,
    n: counts.total,
    step: number(counts.first, 12),
  });
  const go = () =>
    page.change({ x: "step", at: counts.first, zoom: [counts.first - AROUND, counts.first + AROUND] });
  return button(text, go, { class: NON_FINITE_BADGE, title: app.t("scalar.non_finite.go") });
}

/**
 * Return number, first step and kinds of non-finite values, or null if there are none.
 * @param {[string, number, number, number][]} ranges kind, first step, last step, how many
 * @returns {{total: number, first: number, kinds: string[]} | null} null when all is finite
 */
export function nonFinite(ranges) {
  if (!ranges.length) return null;
  return {
    total: ranges.reduce((sum, [, , , count]) => sum + count, 0),
    first: ranges.reduce((least, [, step]) => Math.min(least, step), Infinity),
    kinds: [...new Set(ranges.map(([kind]) => SIGNS[/** @type {keyof SIGNS} */ (kind)] ?? kind))],
  };
}
