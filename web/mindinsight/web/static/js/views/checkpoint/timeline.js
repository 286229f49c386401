// Timeline: one row per tensor and one cell per checkpoint, coloured by the relative change.

import { between } from "../../core/colours.js";
import { h } from "../../core/dom.js";
import { ramp } from "../../core/ramp.js";
import { changesOf, numberOf } from "./rows.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/answers.js").Saved} Saved */
/** @typedef {import("../../core/answers.js").SavedRow} SavedRow */
/**
 * @typedef {Object} Row
 * @property {string} name
 * @property {number[]} shape
 * @property {string[]} states
 * @property {(number | string | null)[]} changes
 * @property {(number | null)[]} non_finite
 */

const WIDE = 12; // checkpoints up to which cells have text
const DARK = 0.55; // share of the ramp from which text is light, in the light theme
const DIGITS = 2; // of a change in a cell; changes with the same digits have the same colour
const NOISE = 1e-3; // relative spread of the changes up to which they have one colour

/** Return a change with the digits of its cell. @param {number} change */
const rounded = (change) => Number(change.toPrecision(DIGITS));

/**
 * Return the position of a share of the scale on the ramp, whose first part looks like the background.
 * @param {number} part
 */
const placed = (part) => 0.08 + 0.92 * part;

/**
 * Return the description of a tensor's cell: checkpoint, change and state.
 * @param {App} app
 * @param {Row} row
 * @param {number} at
 * @param {Saved[]} checkpoints
 */
export function cellText({ t, format }, row, at, checkpoints) {
  const broken = row.non_finite[at];
  const state = row.states[at];
  const change = row.changes[at];
  const before = checkpoints[row.states.findLastIndex((had, i) => i < at && had !== "absent")]?.label;
  const moved =
    state === "changed" && change !== null
      ? t("checkpoint.cell.changed", { change: format.number(Number(change)), before })
      : t(`checkpoint.cell.${state}`, { before });
  const lost = broken ? t("checkpoint.cell.lost", { n: broken }) : "";
  return [`${row.name} · ${checkpoints[at].label}`, lost, moved].filter(Boolean).join(" · ");
}

/** Return the CSS class of a cell. @param {Row} row @param {number} at */
export function cellClass(row, at) {
  const broken = row.non_finite[at];
  if (broken) return broken < row.shape.reduce((count, size) => count * size, 1) ? "lost" : "lost all";
  const state = row.states[at];
  if (state === "unchanged") return "frozen";
  if (state === "start" || state === "absent") return state;
  return state === "changed" ? "moved" : "odd";
}

/**
 * Return the ends of the colour scale: the median and the largest of the weights' changes, so that a jump is
 * dark among pale cells. States of optimizers change most at all times and do not count. Null without a
 * change.
 * @param {SavedRow[]} rows
 * @returns {[number, number] | null}
 */
export function changeScale(rows) {
  const changes = rows
    .flatMap((row) => (row.weight ? changesOf(row) : []))
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  if (!changes.length) return null;
  const [low, high] = [changes[(changes.length - 1) >> 1], changes[changes.length - 1]];
  return high <= low * (1 + NOISE) ? [high, high] : [rounded(low), rounded(high)];
}

/**
 * Return the position on a logarithmic colour scale. Unknown changes are at the end.
 * @param {number | string | null} change
 * @param {[number, number] | null} scale
 */
export function share(change, scale) {
  const value = rounded(numberOf(change));
  if (!scale || Number.isNaN(value)) return 1;
  const [low, high] = scale;
  if (low === high) return value > Math.max(high, rounded(high)) * (1 + NOISE) ? 1 : 0.5;
  if (value > high) return 1;
  if (value <= low) return 0;
  return Math.log(value / low) / Math.log(high / low);
}

/**
 * Create a tensor's row of cells, one for each checkpoint.
 * @param {App} app
 * @param {Row} row
 * @param {Saved[]} checkpoints
 * @param {[number, number] | null} scale of colours
 * @param {number} current column whose values are shown, -1 for none
 * @param {(at: number) => void} open
 */
export function timelineCells(app, row, checkpoints, scale, current, open) {
  const stops = /** @type {[number, string][]} */ (ramp(app));
  const texts = checkpoints.length <= WIDE;
  return checkpoints.map((_, at) => {
    const kind = cellClass(row, at);
    const place = placed(share(row.changes[at], scale));
    const light = app.theme.dark() ? place < DARK : place > DARK;
    const style =
      kind === "moved" ? { background: between(stops, place), color: light ? "#fff" : "#111" } : {};
    const words = cellText(app, row, at, checkpoints);
    return h(
      "td",
      { class: "timeline-cell" },
      h(
        "button",
        {
          type: "button",
          class: kind,
          style,
          title: words,
          "aria-label": words,
          "aria-current": at === current ? "true" : null,
          "data-focus": `${row.name} ${at}`,
          onclick: () => open(at),
          disabled: kind === "absent",
        },
        texts ? shortText(app, row, at, kind) : "",
      ),
    );
  });
}

/**
 * Return the short text in a cell.
 * @param {App} app
 * @param {Row} row
 * @param {number} at
 * @param {string} kind
 */
function shortText({ t, format }, row, at, kind) {
  if (kind.startsWith("lost")) return t("checkpoint.short.lost");
  if (kind === "frozen") return "=";
  if (kind === "moved") {
    return row.changes[at] === null ? "≠" : format.number(Number(row.changes[at]), DIGITS);
  }
  return kind === "odd" ? "!" : "";
}

/**
 * Create the legend of the timeline's colours.
 * @param {App} app
 * @param {[number, number] | null} scale of colours
 */
export function legend(app, scale) {
  const { t, format } = app;
  const stops = /** @type {[number, string][]} */ (ramp(app));
  const colours = stops.map(([at, colour]) => `${colour} ${Math.round(at * 100)}%`).join(", ");
  const key = (/** @type {string} */ kind) =>
    h(
      "span",
      { class: "row" },
      h("i", { class: `timeline-key ${kind === "all" ? "lost all" : kind}`, "aria-hidden": "true" }),
      t(`checkpoint.legend.${kind}`),
    );
  const bar = h("i", {
    class: "timeline-scale",
    style: { background: `linear-gradient(90deg, ${colours})` },
  });
  const ends = scale?.map((end) => format.number(end, DIGITS)) ?? [];
  const one = scale && scale[0] === scale[1];
  const only = between(stops, placed(0.5));
  const swatch = h("i", { class: "timeline-scale", style: { background: only } });
  const range = one ? [swatch, ends[0]] : [`≤ ${ends[0]}`, bar, `≥ ${ends[1]}`];
  return h(
    "p",
    { class: "row wrap small muted" },
    scale && h("span", { class: "row" }, h("span", null, t("checkpoint.legend.change")), range),
    ["lost", "all", "frozen", "odd", "absent"].map(key),
  );
}
