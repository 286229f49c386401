// Loss curve with the intervals of steps that landscapes were computed for. A click on an interval selects
// it.

import { h, svg } from "../../core/dom.js";
import { mainTag } from "../main_tag.js";
import { intervalOf, labelOf, stepRange } from "./intervals.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./intervals.js").Landscape} Landscape */
/** @typedef {{run: string, tag: string, step: ArrayLike<number>, value: ArrayLike<number>}} Loss */

const WIDE = 1000;
const TALL = 100;
const LOSS = /loss/i;
const TRAINED = /^(?!.*(val|test)).*$/i; // rather the loss of the training than one of an evaluation

/**
 * Fetch the loss of each run. Runs may use different tags for it.
 * @param {App} app
 * @param {string[]} runs
 * @param {AbortSignal} signal
 * @returns {Promise<Loss[]>}
 */
export async function readLosses(app, runs, signal) {
  const withScalars = runs.filter((run) => app.selection.run(run)?.kinds.scalar);
  if (!withScalars.length) return [];
  const { tags } = await app.api.get("v2/tags", { kind: "scalar", run: withScalars }, { signal });
  const ask = async (/** @type {[string, string[]]} */ [tag, run]) =>
    (await app.api.columns("v2/scalar/series", { tag, run, px: 400 }, { signal })).series.map(
      (/** @type {Omit<Loss, "tag">} */ series) => ({
        run: series.run,
        tag,
        step: series.step,
        value: series.value,
      }),
    );
  return (await Promise.all([...lossTags(tags, withScalars)].map(ask))).flat();
}

/**
 * Return the runs by the tag of their main loss. Runs without one are left out.
 * @param {import("../../core/tags.js").Tag[]} tags
 * @param {string[]} runs
 * @returns {Map<string, string[]>}
 */
export function lossTags(tags, runs) {
  const losses = tags.filter((tag) => LOSS.test(tag.tag));
  /** @type {Map<string, string[]>} */
  const runsByTag = new Map();
  for (const run of runs) {
    const own = losses.filter((loss) => loss.runs.includes(run));
    if (!own.length) continue;
    const tag = mainTag(own, TRAINED);
    runsByTag.set(tag, [...(runsByTag.get(tag) ?? []), run]);
  }
  return runsByTag;
}

/**
 * Create the curve with its intervals, or return null if there are no losses or no intervals.
 * @param {App} app
 * @param {Loss[]} losses
 * @param {Landscape[]} landscapes
 * @param {string} selected
 * @param {(interval: string) => void} onchange
 */
export function lossCurve(app, losses, landscapes, selected, onchange) {
  const steps = losses.flatMap((loss) => ends(loss.step));
  const stretches = landscapes.flatMap((landscape) => stepRange(landscape) ?? []);
  if (!losses.length || !stretches.length) return null;
  const [from, to] = [Math.min(...steps, ...stretches), Math.max(...steps, ...stretches)];
  const across = (/** @type {number} */ step) => (step - from) / (to - from || 1);
  const values = losses.flatMap((loss) => Array.from(loss.value).filter(Number.isFinite));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const up = (/** @type {number} */ value) => (high > low ? (high - value) / (high - low) : 0.5);
  const lines = losses.map((loss) =>
    svg("path", {
      d: pathOf(loss, across, up),
      stroke: app.selection.colour(loss.run),
      "data-run": loss.run,
    }),
  );
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDE} ${TALL}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    lines,
  );
  const { number } = app.format;
  return h(
    "div",
    { class: "panel loss-curve" },
    h(
      "h2",
      { class: "panel-title" },
      [...new Set(losses.map((loss) => loss.tag))].join(", "),
      " ",
      h("span", { class: "muted small" }, app.t("landscape.curve")),
    ),
    h(
      "div",
      { class: "loss-plot", role: "group", "aria-label": app.t("landscape.curve") },
      buttons(app, landscapes, selected, across, onchange),
      drawing,
      h("span", { class: "most" }, number(high)),
      h("span", { class: "least" }, number(low)),
    ),
    h("div", { class: "row small muted" }, h("span", { class: "grow" }, number(from)), number(to)),
  );
}

/**
 * Create the buttons of the intervals.
 * @param {App} app
 * @param {Landscape[]} landscapes
 * @param {string} selected
 * @param {(step: number) => number} across
 * @param {(interval: string) => void} onchange
 */
function buttons(app, landscapes, selected, across, onchange) {
  /** @type {Map<string, [number, number]>} */
  const stretches = new Map();
  for (const landscape of landscapes) {
    const stretch = stepRange(landscape);
    if (stretch && !stretches.has(intervalOf(landscape))) stretches.set(intervalOf(landscape), stretch);
  }
  // shorter stretches lie on top
  const widest = [...stretches].sort(([, a], [, b]) => b[1] - b[0] - (a[1] - a[0]));
  return widest.map(([interval, [first, last]]) => {
    const label = labelOf(app.t, interval);
    const style = { left: `${across(first) * 100}%`, width: `${(across(last) - across(first)) * 100}%` };
    return h(
      "button",
      {
        type: "button",
        class: first < last ? "stretch" : "stretch point",
        style,
        "data-focus": interval,
        "aria-pressed": interval === selected,
        "aria-label": label,
        title: label,
        onclick: () => onchange(interval),
      },
      first < last && h("span", null, label),
    );
  });
}

/** Return the first and last step, or [] if there are none. @param {ArrayLike<number>} steps */
function ends(steps) {
  return steps.length ? [steps[0], steps[steps.length - 1]] : [];
}

/**
 * Return the SVG path of a curve, with gaps at non-finite values.
 * @param {Loss} loss
 * @param {(step: number) => number} across
 * @param {(value: number) => number} up
 */
export function pathOf(loss, across, up) {
  let d = "";
  let pen = "M";
  for (let i = 0; i < loss.step.length; i++) {
    if (!Number.isFinite(loss.value[i])) {
      pen = "M";
      continue;
    }
    d += `${pen}${(across(loss.step[i]) * WIDE).toFixed(1)} ${(up(loss.value[i]) * TALL).toFixed(1)}`;
    pen = "L";
  }
  return d;
}
