// A bar as long as a training, filled from the step on at which something begins.

import { h } from "../core/dom.js";

/**
 * @param {number | null} onset
 * @param {number} last step of the training
 * @param {string} label what the bar says, in words
 */
export function onsetBar(onset, last, label) {
  const share = onset === null || last <= 0 ? 100 : Math.min(100, Math.max(0, (100 * onset) / last));
  const rest = h("i", { style: { left: `${share.toFixed(2)}%` } });
  return h("span", { class: "onset-bar", role: "img", "aria-label": label, title: label }, rest);
}
