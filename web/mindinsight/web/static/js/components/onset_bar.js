// Bar of a training's length, filled from an onset step to the end.

import { h } from "../core/dom.js";

/** @typedef {import("../core/types.js").App} App */

/**
 * Create the bar. It is empty if the onset lies after the last step.
 * @param {number} onset
 * @param {number} last step of the training
 * @param {string} label what the bar says, in words
 */
function onsetBar(onset, last, label) {
  const share = last <= 0 ? 100 : Math.min(100, Math.max(0, (100 * onset) / last));
  const rest = h("i", { style: { left: `${share.toFixed(2)}%` } });
  return h("span", { class: "onset-bar", role: "img", "aria-label": label, title: label }, rest);
}

/**
 * Create the two table cells of an onset: its step, approximate unless `exact`, and a bar of its place in the
 * training. They are empty for null.
 * @param {App} app
 * @param {number | null} onset
 * @param {boolean} exact
 * @param {number} last step of the training
 */
export function onsetCells({ t, format }, onset, exact, last) {
  if (onset === null) return [h("td", { class: "number" }), h("td")];
  const step = format.number(onset);
  return [
    h("td", { class: "number" }, exact ? step : t("why.about", { step })),
    h("td", null, onsetBar(onset, last, t(exact ? "why.from_step" : "why.from_about", { step }))),
  ];
}
