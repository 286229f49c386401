// Controls of axes and smoothing, for the toolbar, its panel and a chart that fills the window.

import { select, slider } from "../../components/field.js";
import { FORMULA, tagText } from "./options.js";

/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./card.js").Page} Page */

/** Create the controls of axes and smoothing for a chart that fills the window. @param {Page} page */
export function chartControls(page) {
  return [xAxis(page), yScale(page), smoothingControls(page)];
}

/** Create the controls of the smoothing method and weight. @param {Page} page */
export function smoothingControls(page) {
  return [smoothing(page), smoothingKind(page)];
}

/** Create the selects of the x axis and of its scale. @param {Page} page */
export function xAxis(page) {
  const { t } = page.app;
  const options = page.options();
  const builtIn = ["step", "relative", "wall"].map((value) => ({ value, label: t(`scalar.x.${value}`) }));
  const formulas = options.mixes.flat().filter((tag) => tag.startsWith(FORMULA));
  const tags = [...new Set([...formulas, ...page.tags])].map((tag) => ({
    value: `tag:${tag}`,
    label: tagText(tag),
  }));
  const x = select({
    label: t("scalar.x"),
    options: [...builtIn, ...tags],
    value: options.x,
    onchange: (value) => page.change({ x: value, zoom: null, at: null }),
  });
  const scale = select({
    label: t("scalar.x_scale"),
    options: scales(page),
    value: options.logX,
    onchange: (value) => page.change({ logX: /** @type {Options["logX"]} */ (value) }),
  });
  return [x, scale];
}

/** Create the choice of the scale of y. @param {Page} page */
export function yScale(page) {
  return select({
    label: page.app.t("scalar.y"),
    options: scales(page),
    value: page.options().y,
    onchange: (value) => page.change({ y: /** @type {Options["y"]} */ (value) }),
  });
}

/** Return the scales of an axis as choices. @param {Page} page */
function scales(page) {
  return ["linear", "log", "symlog"].map((value) => ({ value, label: page.app.t(`scalar.scale.${value}`) }));
}

/** Create the slider of the smoothing weight. @param {Page} page */
export function smoothing(page) {
  return slider({
    label: page.app.t("scalar.smooth"),
    min: 0,
    max: 0.99,
    step: 0.01,
    value: page.options().smooth,
    delay: 120,
    onchange: (value) => page.change({ smooth: value, smoothAll: true }),
  });
}

/** Create the choice of the smoothing method. @param {Page} page */
export function smoothingKind(page) {
  const { t } = page.app;
  return select({
    label: t("scalar.smooth.kind"),
    options: ["debiased", "ema", "gaussian", "mean"].map((value) => ({
      value,
      label: t(`scalar.smooth.${value}`),
    })),
    value: page.options().smoothKind,
    onchange: (value) =>
      page.change({ smoothKind: /** @type {Options["smoothKind"]} */ (value), smoothAll: true }),
  });
}
