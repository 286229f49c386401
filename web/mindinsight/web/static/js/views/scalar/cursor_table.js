// Table of values in the tip of the cursor: a row for each curve, the nearest first.

import { h } from "../../core/dom.js";
import { duration, number, time } from "../../core/format.js";

const ROWS = 12;
const SPARED = ["relative", "wall"]; // what a narrow window has no room for

/** @type {Record<string, (curve: import("./curve.js").Curve, row: number) => string>} */
const FIELDS = {
  smoothed: (curve, row) => (curve.smooth ? number(curve.smooth[row], 6) : ""),
  value: (curve, row) => number(curve.value[row], 6),
  x: (curve, row) => (curve.x ? number(curve.x[row], 6) : ""),
  step: (curve, row) => number(curve.step[row], 12),
  relative: (curve, row) => duration(curve.wall[row] - curve.wall[0]),
  wall: (curve, row) => time(curve.wall[row]),
};

/**
 * @param {import("../../core/types.js").App} app
 * @param {import("./nearest.js").Near[]} rows nearest first
 * @param {string} axis
 */
export function cursorTable(app, rows, axis) {
  const smoothed = rows.some(({ line }) => line.curve.smooth);
  const scalarX = axis.startsWith("tag:");
  const fields = [
    ...(smoothed ? ["smoothed"] : []),
    "value",
    ...(scalarX ? ["x"] : []),
    "step",
    "relative",
    "wall",
  ];
  const aside = (/** @type {string} */ field) =>
    SPARED.includes(field) || (scalarX && field === "step") ? "aside" : null;
  const body = rows.slice(0, ROWS).map(({ line: { curve, colour, label }, row }, rank) =>
    h(
      "tr",
      { class: rank === 0 ? "near" : "" },
      h("td", null, h("i", { class: "swatch", style: { background: colour } })),
      h("th", { scope: "row" }, label),
      fields.map((field) => h("td", { class: aside(field) }, FIELDS[field](curve, row))),
    ),
  );
  const head = fields.map((field) =>
    h("th", { scope: "col", class: aside(field) }, app.t(`scalar.tip.${field}`)),
  );
  const hidden = rows.length - body.length;
  return [
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h("tr", null, h("td", null), h("th", { scope: "col" }, app.t("scalar.tip.run")), head),
      ),
      h("tbody", null, body),
    ),
    hidden > 0 && h("p", { class: "muted" }, app.t("scalar.tip.more", { n: hidden })),
  ];
}
