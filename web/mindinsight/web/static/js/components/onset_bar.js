// Bar of a training's length, filled from an onset step to the end.

import { h } from "../core/dom.js";

/**
 * Create the bar. It is empty if the onset is null or lies after the last step.
 * @param {number | null} onset
 * @param {number} last step of the training
 * @param {string} label what the bar says, in words
 */
export function onsetBar(onset, last, label) {
  const share = onset === null || last <= 0 ? 100 : Math.min(100, Math.max(0, (100 * onset) / last));
  const rest = h("i", { style: { left: `${share.toFixed(2)}%` } });
  return h("span", { class: "onset-bar", role: "img", "aria-label": label, title: label }, rest);
}
