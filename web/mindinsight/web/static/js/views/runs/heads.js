// Header of the runs table: cells sort and can be dragged.

import { headCell } from "../../components/virtual.js";
import { h } from "../../core/dom.js";
import { movable, nextSort } from "../../components/runs/order.js";

/** @typedef {import("../../components/runs/columns.js").TableColumn} TableColumn */

/**
 * Create the header cells of the runs table, which sort it and can be dragged.
 * @param {import("../../core/types.js").App} app
 * @param {import("../../components/runs/columns.js").TableColumn[]} columns
 * @param {string} sort of the address
 * @param {{onsort: (sort: string | null) => void, actions: string, layout:
 *   import("../../components/runs/column_layout.js").ColumnLayout}} options
 */
export function headCells(app, columns, sort, { onsort, layout, actions }) {
  /** @param {Pick<TableColumn, "key" | "label" | "number" | "first" | "of">} column */
  const cell = ({ key, label, number, first = "descending", of }, sortable = true) =>
    headCell({
      label,
      of,
      number,
      title: app.t("runs.sort", { column: of ? `${of} · ${label}` : label }),
      sorted: sort === key ? "ascending" : sort === `-${key}` ? "descending" : null,
      onsort: sortable ? () => onsort(nextSort(sort, key, first)) : undefined,
    });
  return [
    layout.heading(cell({ key: "name", label: app.t("common.run") }), {
      key: "name",
      label: app.t("common.run"),
    }),
    h("th", { scope: "col", class: "actions" }, h("span", { class: "unseen" }, actions)),
    ...columns.map((column) =>
      layout.heading(
        movable(cell(column, Boolean(column.value)), column.key, (key, before) => layout.move(key, before)),
        column,
      ),
    ),
    h("td", { class: "rest" }),
  ];
}
