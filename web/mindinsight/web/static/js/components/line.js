// Line sample of a run in its colour and dash style.

import { svg } from "../core/dom.js";

/** @type {Record<string, string>} */
const DASHES = { solid: "none", dash: "5 3", dot: "2 2.5", dashdot: "6 2 2 2" };

/**
 * Create the line sample of a run. It is gray if `on` is false.
 * @param {import("../core/types.js").App} app
 * @param {string} id of the run
 * @param {boolean} on whether it is shown; grey when it is not
 */
export function lineSample(app, id, on) {
  const stroke = on ? app.selection.colour(id) : "var(--line-strong)";
  const path = svg("path", {
    d: "M1 4h16",
    stroke,
    "stroke-width": 3,
    "stroke-dasharray": DASHES[app.selection.dash(id)],
    opacity: on ? 1 : 0.45,
  });
  return svg("svg", { class: "line-sample", width: 18, height: 8, "aria-hidden": "true" }, path);
}
