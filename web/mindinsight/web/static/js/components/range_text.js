// Legend of colours that do not span all values.

import { h } from "../core/dom.js";

/**
 * Create the sentence that names the range of the colours; null if they span all values.
 * @param {import("../core/types.js").App} app
 * @param {import("../core/ramp.js").ColourRange | null} range
 */
export function rangeText({ t, format }, range) {
  if (!range?.beyond) return null;
  const ends = { low: format.number(range.low), high: format.number(range.high) };
  const key = h("i", { class: "beyond-key", "aria-hidden": "true" });
  const text = t("tensor.colours", { ...ends, n: range.beyond });
  return h("p", { class: "small muted" }, key, " ", text);
}
