// Line above the pages of a copy: of when it is, and that it holds no more than its pages showed.

import { h } from "../core/dom.js";

/**
 * Put a line above the page with the number of runs in this copy, and when and by which version it was made.
 * @param {import("../core/types.js").App} app
 * @param {import("../core/copy.js").CopyIndex} copy
 */
export function copyLine({ t, format }, { made, version, runs }) {
  const text = t("copy.line", { n: runs, time: format.time(made), version });
  document.getElementById("body")?.before(h("p", { class: "copy-line", role: "note" }, text));
}
