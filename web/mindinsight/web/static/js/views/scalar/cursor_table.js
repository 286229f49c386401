// Table of values in the cursor's tooltip, a row for each of the nearest curves.

import { valueClass } from "../../components/hatching.js";
import { longName } from "../../components/long_name.js";
import { h } from "../../core/dom.js";
import { duration, number, time } from "../../core/format.js";
import { sharedPath } from "../../core/names.js";
import { byName } from "../../core/run_list.js";
import { smoothedValues } from "./curve.js";

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
 * Create the table of values at the cursor, a row for each of the nearest curves. `all` adds steps and times.
 * @param {import("../../core/types.js").App} app
 * @param {import("./nearest.js").Near[]} rows nearest first
 * @param {{axis: string, order: "distance" | "value" | "name", all: boolean}} options `all`: also steps and
 *   times
 */
export function cursorTable(app, rows, { axis, order, all }) {
  const smoothed = rows.some(({ line }) => line.curve.smooth);
  const scalarX = axis.startsWith("tag:");
  const fields = [
    ...(smoothed ? ["smoothed"] : []),
    "value",
    ...(scalarX ? ["x"] : []),
    ...(all ? ["step", "relative", "wall"] : []),
  ];
  const aside = (/** @type {string} */ field) =>
    SPARED.includes(field) || (scalarX && field === "step") ? "aside" : null;
  const start = sharedPath(rows.map(({ line }) => line.label));
  const body = inOrder(rows.slice(0, ROWS), order).map(({ line: { curve, colour, label }, row, ended }) =>
    h(
      "tr",
      { class: ended ? "muted" : curve === rows[0].line.curve ? "near" : "" },
      h("td", null, h("i", { class: "swatch", style: { background: colour } })),
      h(
        "th",
        { scope: "row" },
        longName(label, { start }),
        ended && ` ${app.t("scalar.tip.ended", { step: number(curve.step[row], 12) })}`,
      ),
      fields.map((field) => {
        const text = FIELDS[field](curve, row);
        return h("td", { class: valueClass(text, aside(field) ?? "") }, text);
      }),
    ),
  );
  const head = fields.map((field) =>
    h("th", { scope: "col", class: aside(field) }, app.t(`scalar.tip.${field}`)),
  );
  const hidden = rows.length - body.length;
  const at = rows.find(({ ended }) => !ended) ?? rows[0];
  const step = number(at.line.curve.step[at.row], 12);
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
    !all &&
      h("p", { class: "muted" }, app.t("scalar.tip.step_of", { step }), " · ", app.t("scalar.tip.shift")),
  ];
}

/**
 * Sort the rows by distance, value or name.
 * @param {import("./nearest.js").Near[]} rows
 * @param {"distance" | "value" | "name"} order
 */
function inOrder(rows, order) {
  if (order === "distance") return rows;
  if (order === "name") return [...rows].sort((a, b) => byName(a.line.label, b.line.label));
  const value = (/** @type {import("./nearest.js").Near} */ { line, row }) => {
    const height = smoothedValues(line.curve)[row];
    return Number.isNaN(height) ? -Infinity : height; // what is not a number comes last
  };
  return [...rows].sort((a, b) => value(b) - value(a));
}
