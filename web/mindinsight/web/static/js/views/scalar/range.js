// Statistics of the visible range of a chart, one row per run.

import { longName } from "../../components/long_name.js";
import { h } from "../../core/dom.js";
import { duration, number, time } from "../../core/format.js";
import { sharedPath } from "../../core/names.js";

const FIELDS = ["count", "first", "last", "min", "min_step", "max", "max_step", "mean", "deviation", "slope"];

const FEW = ["last", "min", "max", "mean"]; // what a narrow card has room for

/** Return the CSS classes of a column. @param {string} field */
function classOf(field) {
  return FEW.includes(field) ? "number" : "number spare";
}

/**
 * Statistics of a run: numbers, or names of what JSON has no number for.
 * @typedef {Record<string, number | string> & {run: string}} RangeRow
 */

/** Ends that JSON has no number for. @type {Record<string, number>} */
const NOT_FINITE = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/**
 * Request statistics of the curves within the zoomed range, and create their table.
 * @param {import("./card.js").Page} page
 * @param {string[]} tags
 * @param {AbortSignal} signal
 * @returns {Promise<HTMLElement>}
 */
export async function rangeTable(page, tags, signal) {
  const { app } = page;
  const options = page.options();
  const { x, zoom } = options;
  const runs = app.selection
    .entries()
    .filter((run) => run.kinds.scalar)
    .map((run) => run.id);
  const answers = await Promise.all(
    tags.map((tag) =>
      app.api.get(
        "v2/scalar/statistics",
        { tag, run: runs, x: zoom && x, low: zoom?.[0], high: zoom?.[1] },
        { signal },
      ),
    ),
  );
  const nameOf = (/** @type {string} */ id) => app.selection.run(id)?.name ?? id;
  const start = sharedPath(runs.map(nameOf));
  const rows = answers.flatMap((answer) =>
    answer.rows.map((/** @type {RangeRow} */ row) =>
      h(
        "tr",
        null,
        h(
          "th",
          { scope: "row" },
          h("i", { class: "swatch", style: { background: app.selection.colour(row.run) } }),
          " ",
          longName(nameOf(row.run), { start }),
        ),
        FIELDS.map((field) =>
          h("td", { class: classOf(field) }, number(NOT_FINITE[row[field]] ?? row[field], 5)),
        ),
      ),
    ),
  );
  const head = FIELDS.map((field) =>
    h("th", { scope: "col", class: classOf(field) }, app.t(`scalar.range.${field}`)),
  );
  const caption = zoom ? between(app, x, zoom) : app.t("scalar.range.all");
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `${tags.join(", ")}: ${caption}` },
    h(
      "table",
      { class: "table" },
      h("caption", null, caption),
      h("thead", null, h("tr", null, h("th", { scope: "col" }, app.t("scalar.tip.run")), head)),
      h("tbody", null, rows),
    ),
  );
}

/**
 * Return the range as text.
 * @param {import("../../core/types.js").App} app
 * @param {string} x
 * @param {[number, number]} ends
 */
function between(app, x, ends) {
  if (x.startsWith("tag:")) {
    return app.t("scalar.range.tag", { tag: x.slice(4), low: number(ends[0]), high: number(ends[1]) });
  }
  const text =
    { step: number, relative: duration, wall: time }[/** @type {"step" | "relative" | "wall"} */ (x)] ??
    number;
  const key = x === "step" ? "scalar.range.between" : `scalar.range.${x}`;
  return app.t(key, { low: text(ends[0]), high: text(ends[1]) });
}
