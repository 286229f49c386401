// Dialog with the settings and results in which runs differ.

import { dialog } from "../../components/dialog.js";
import { h } from "../../core/dom.js";

/**
 * @param {import("../../core/types.js").App} app @param {import("./axes.js").Column[]} columns
 * @param {import("./axes.js").Row[]} rows
 */
export function differenceDialog(app, columns, rows) {
  const differ = columns.filter(
    (column) => new Set(rows.map((row) => JSON.stringify(row.values[column.key] ?? null))).size > 1,
  );
  const text = (/** @type {any} */ value) =>
    value === undefined ? "–" : typeof value === "number" ? app.format.number(value, 6) : String(value);
  const head = rows.map((row) =>
    h(
      "th",
      { scope: "col" },
      h("i", { class: "swatch", style: { background: app.selection.colour(row.run) } }),
      " ",
      app.selection.run(row.run)?.name ?? row.run,
    ),
  );
  const body = differ.map((column) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, column.label),
      rows.map((row) =>
        h("td", { class: column.numeric ? "number" : "wrapped" }, text(row.values[column.key])),
      ),
    ),
  );
  const table = h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": app.t("lineage.difference") },
    h(
      "table",
      { class: "table" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, app.t("lineage.setting")), head)),
      h("tbody", null, body),
    ),
  );
  const equalCount = h("p", { class: "muted" }, app.t("lineage.same", { n: columns.length - differ.length }));
  dialog({
    title: app.t("lineage.difference"),
    body: differ.length ? [table, equalCount] : [equalCount],
    close: app.t("common.close"),
    wide: true,
  });
}
