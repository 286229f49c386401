// Table of all curves' values at the clicked position.

import { button } from "../../components/button.js";
import { headCell } from "../../components/virtual.js";
import { valueClass } from "../../components/hatching.js";
import { longName } from "../../components/long_name.js";
import { h } from "../../core/dom.js";
import { duration, number, time } from "../../core/format.js";
import { sharedPath } from "../../core/names.js";
import { closest } from "./nearest.js";
import { reaches, xColumn } from "./curve.js";

/** @typedef {{by: string, down: boolean}} Order */
/**
 * @typedef {{key: string, label: string, value: (row: Row) => number | string | undefined,
 *   text: (row: Row) => string}} Field
 */
/** @typedef {{line: import("./curve.js").Line, row: number}} Row */

/** @type {Record<string, Omit<Field, "key" | "label">>} */
const FIELDS = {
  value: {
    value: ({ line, row }) => line.curve.value[row],
    text: ({ line, row }) => number(line.curve.value[row], 6),
  },
  smoothed: {
    value: ({ line, row }) => line.curve.smooth?.[row],
    text: ({ line, row }) => number(line.curve.smooth?.[row], 6),
  },
  step: {
    value: ({ line, row }) => line.curve.step[row],
    text: ({ line, row }) => number(line.curve.step[row], 12),
  },
  relative: {
    value: ({ line, row }) => line.curve.wall[row] - line.curve.wall[0],
    text: ({ line, row }) => duration(line.curve.wall[row] - line.curve.wall[0]),
  },
  wall: {
    value: ({ line, row }) => line.curve.wall[row],
    text: ({ line, row }) => time(line.curve.wall[row]),
  },
};

const SPARED = ["step", "relative", "wall"]; // what a narrow card has no room for

/** Return the CSS classes of a column. @param {string} key */
function classOf(key) {
  return SPARED.includes(key) ? "number spare" : "number";
}

/**
 * Create the table of all curves' values at the clicked position; null if no position was clicked or no curve
 * reaches it.
 * @param {import("./card.js").Page} page
 * @param {string[]} tags
 * @param {import("./curve.js").Line[]} lines
 * @param {Order} order
 * @param {(order: Order) => void} onsort
 */
export function valuesAt(page, tags, lines, order, onsort) {
  const { app } = page;
  const { at, x } = page.options();
  if (at === null) return null;
  const to = x === "wall" ? 1000 * at : at;
  const rows = lines
    .map((curve) => ({ line: curve, row: nearestRow(curve, x, to) }))
    .filter(({ row }) => row >= 0);
  if (!rows.length) return null;
  const fields = Object.keys(FIELDS).filter(
    (key) => key !== "smoothed" || lines.some(({ curve }) => curve.smooth),
  );
  const caption = app.t("scalar.values.at", { place: placeText(app, x, at) });
  const label = (/** @type {string} */ key) => app.t(`scalar.tip.${key}`);
  const heads = [
    h("th", { scope: "col" }, label("run")),
    ...fields.map((key) => {
      const head = headCell({
        label: label(key),
        number: true,
        sorted: order.by === key ? (order.down ? "descending" : "ascending") : null,
        onsort: () => onsort({ by: key, down: order.by === key ? !order.down : true }),
      });
      head.classList.toggle("spare", SPARED.includes(key));
      return head;
    }),
  ];
  const start = sharedPath(lines.map(({ label: name }) => name));
  const body = sorted(rows, order).map((row) =>
    h(
      "tr",
      null,
      h(
        "th",
        { scope: "row" },
        h("i", { class: "swatch", style: { background: row.line.colour } }),
        " ",
        longName(row.line.label, { start }),
      ),
      fields.map((key) =>
        valueCell(FIELDS[key].text(row), classOf(key), key === "wall" ? consoleAt(app, row) : null),
      ),
    ),
  );
  const unpin = button(app.t("scalar.values.close"), () => page.change({ at: null }), {
    class: "link",
    "aria-label": `${app.t("scalar.values.close")}: ${tags.join(", ")}`,
  });
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `${tags.join(", ")}: ${caption}` },
    h(
      "table",
      { class: "table" },
      h("caption", null, caption, " ", unpin),
      h("thead", null, h("tr", null, heads)),
      h("tbody", null, body),
    ),
  );
}

/**
 * Return the row of a curve nearest to a position; -1 if it does not reach it.
 * @param {import("./curve.js").Line} line
 * @param {string} x
 * @param {number} at
 */
function nearestRow({ curve }, x, at) {
  return reaches(curve, x, at) ? closest(xColumn(curve, x), at) : -1;
}

/** Sort the rows. NaN comes last in either direction. @param {Row[]} rows @param {Order} order */
function sorted(rows, order) {
  const key = (/** @type {Row} */ row) => Number(FIELDS[order.by].value(row));
  const [numbers, texts] = [
    rows.filter((row) => !Number.isNaN(key(row))),
    rows.filter((row) => Number.isNaN(key(row))),
  ];
  return [...numbers.sort((a, b) => (order.down ? key(b) - key(a) : key(a) - key(b))), ...texts];
}

/**
 * Return a position on the x axis as text.
 * @param {import("../../core/types.js").App} app
 * @param {string} x
 * @param {number} at
 */
export function placeText(app, x, at) {
  if (x === "step") return app.t("scalar.values.step", { step: number(Math.round(at), 12) });
  if (x === "wall") return time(at);
  return x === "relative" ? duration(at) : `${x.slice(4)} ${number(at)}`;
}

/**
 * Return the address of what a run printed at the time of a row, or null if it recorded no console.
 * @param {import("../../core/types.js").App} app
 * @param {Row} row
 */
function consoleAt(app, { line, row }) {
  const run = app.selection.run(line.curve.run);
  if (!run?.kinds.console) return null;
  return app.url.link("console", { run: run.id.slice(2) || ".", t: String(line.curve.wall[row]) });
}

/**
 * Create the cell of a value.
 * @param {string} text
 * @param {string | null} others classes
 * @param {string | null} href of what it leads to
 */
function valueCell(text, others, href) {
  return h("td", { class: valueClass(text, others ?? "") }, href ? h("a", { href }, text) : text);
}
