// Lines of a difference: those that were removed, added, or are the same.

import { h } from "../core/dom.js";

/** @type {Record<string, string>} */
const CLASSES = { "-": "removed", "+": "added", "@": "part" };

/**
 * Draw the lines of a text difference, each with its sign: removed, added or unchanged.
 * @param {[string, string][]} lines
 */
export function changedLines(lines) {
  const rows = lines.map(([sign, line]) =>
    h(
      "div",
      { class: `text-line ${CLASSES[sign] ?? "same"}` },
      h("span", { class: "sign" }, sign === "@" ? "" : sign),
      h("span", null, sign === "@" ? `@${line}` : line),
    ),
  );
  return h("div", { class: "text-difference" }, rows);
}
