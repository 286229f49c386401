// Controls of the histogram page.

import { segments } from "../../components/button.js";
import { select, slider } from "../../components/field.js";
import { AXES, MODES, SCALES } from "./options.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./options.js").Options} Options */

/**
 * Create the controls of the histogram page.
 * @param {App} app
 * @param {Options} options
 * @param {HTMLElement} filter
 * @param {(some: Partial<Options>) => void} change
 */
export function toolbar(app, options, filter, change) {
  const { t } = app;
  const mode = segments({
    label: t("histogram.mode"),
    options: MODES.map((value) => ({ value, label: t(`histogram.mode.${value}`) })),
    value: options.mode,
    onchange: (value) => change({ mode: value }),
  });
  const last = newestStep(app);
  const step = slider({
    label: t("histogram.step"),
    min: 0,
    max: last,
    step: 1,
    value: options.step || last,
    delay: 100,
    onchange: (value) => change({ step: value }),
  });
  const controls = options.mode === "beside" ? step : scaleControls(app, options, change);
  return [mode, filter, controls];
}

/**
 * Create the selects of the time axis and of the shared scale.
 * @param {App} app
 * @param {Options} options
 * @param {(some: Partial<Options>) => void} change
 */
export function scaleControls({ t }, options, change) {
  const axis = select({
    label: t("histogram.x"),
    options: AXES.map((value) => ({ value, label: t(`histogram.x.${value}`) })),
    value: options.axis,
    onchange: (value) => change({ axis: value }),
  });
  const scale = select({
    label: t("histogram.scale"),
    options: SCALES.map((value) => ({ value, label: t(`histogram.scale.${value}`) })),
    value: options.scale,
    onchange: (value) => change({ scale: value }),
  });
  scale.box.title = t("histogram.scale.how");
  return [axis, scale];
}

/** Return the newest step of the selected runs with histograms, at least 1. @param {App} app */
export function newestStep(app) {
  const runs = app.selection.runs().filter((run) => run.kinds.histogram);
  return Math.max(1, ...runs.map((run) => run.step));
}
