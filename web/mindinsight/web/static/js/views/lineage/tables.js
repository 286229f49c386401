// Table of runs below the axes.

import { button } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { plainText } from "../../core/format.js";
import { sortedBy, tableColumns } from "./columns.js";
import { datasetDialog } from "./dataset.js";
import { orderOf } from "./of_study.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../lineage.js").Lineage} Lineage */
/** @typedef {import("./axes.js").Row} Row */
/** @typedef {import("./axes.js").Column} Column */

/**
 * Create the table of runs with their settings and results. It is folded while the table of trials above has
 * the same runs.
 * @param {Lineage} view
 * @param {Row[]} rows inside every brush
 */
export function runsTable(view, rows) {
  const trials = new Set(view.study.study?.trials.map(({ run }) => run));
  if (!view.data.rows.every(({ run }) => trials.has(run))) return rowsTable(view, rows);
  const toggled = (/** @type {Event} */ { target }) => {
    view.folded = !(/** @type {HTMLDetailsElement} */ (target).open);
  };
  return h(
    "details",
    { class: "same-trials", open: !view.folded, ontoggle: toggled },
    h(
      "summary",
      { "data-focus": "same-trials" },
      h("h2", { class: "panel-title" }, view.app.t("lineage.same_trials", { n: rows.length })),
    ),
    rowsTable(view, rows),
  );
}

/** Create the table of rows. @param {Lineage} view @param {Row[]} rows */
function rowsTable(view, rows) {
  const { app, data, state } = view;
  const columns = tableColumns(data.columns, state.objective);
  const order = orderOf(state, view.ownStudy());
  const sort = (/** @type {string} */ key) => () => (
    Object.assign(state, { sort: key, down: order.key === key && !order.down }),
    view.draw()
  );
  const direction = (/** @type {string} */ key) =>
    order.key !== key ? "none" : order.down ? "descending" : "ascending";
  const heads = columns.map((column) =>
    h(
      "th",
      { scope: "col", class: column.numeric ? "number" : null, "aria-sort": direction(column.key) },
      button(column.label, sort(column.key), { class: "link", "data-focus": `sort:${column.key}` }),
    ),
  );
  const sortable = columns.some((column) => column.key === order.key);
  const body = (sortable ? sortedBy(rows, order.key, order.down) : rows).map((row) =>
    h(
      "tr",
      {
        "data-run": row.run,
        onpointerenter: () => view.highlight(row.run),
        onpointerleave: () => view.highlight(null),
      },
      nameCell(view, row),
      columns.map((column) =>
        h(
          "td",
          { class: column.numeric ? "number" : "ellipsis-cell", title: String(row.values[column.key] ?? "") },
          cell(app, row, column),
        ),
      ),
    ),
  );
  return h(
    "table",
    { class: "table" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, app.t("lineage.run")), heads)),
    h("tbody", null, body),
  );
}

/** Create the cell of a run's name with its check box. @param {Lineage} view @param {Row} row */
function nameCell(view, { run }) {
  const { app, selectedRuns } = view;
  const name = app.selection.run(run)?.name ?? run;
  const label = app.t("lineage.pick", { run: name });
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "checkbox",
    checked: selectedRuns.has(run),
    "aria-label": label,
    title: label,
    onchange: () => view.setPicked(run, box.checked),
  });
  const swatch = h("i", { class: "swatch", style: { background: app.selection.colour(run) } });
  return h(
    "th",
    { scope: "row" },
    box,
    " ",
    swatch,
    " ",
    h("a", { href: app.url.link("overview", { run }) }, name),
  );
}

/** Return the content of a cell. @param {App} app @param {Row} row @param {Column} column */
function cell(app, row, column) {
  const value = row.values[column.key];
  if (column.key === "data:pipeline" && value) {
    return button(String(value), () => datasetDialog(app, row.run), { class: "link" });
  }
  if (typeof value !== "number") return value === undefined ? "–" : plainText(value);
  const text = app.format.setting(value);
  return Number.isFinite(value) ? text : h("span", { class: "strange" }, text);
}
