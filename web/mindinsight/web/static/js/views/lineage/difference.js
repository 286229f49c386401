// Dialog with the settings and results that differ between runs.

import { dialog } from "../../components/dialog.js";
import { claimElement, madeClaim } from "../../core/claims.js";
import { h } from "../../core/dom.js";
import { plainText } from "../../core/format.js";

/**
 * Return the columns that differ between the rows, and claims about the others. A value that only some rows
 * have differs; a column that no row has is left out.
 * @template {{key: string}} C
 * @param {C[]} columns
 * @param {{values: Record<string, unknown>}[]} rows
 */
export function comparedColumns(columns, rows) {
  const recorded = columns.filter((column) => rows.some((row) => (row.values[column.key] ?? null) !== null));
  const distinct = (/** @type {string} */ key) =>
    new Set(rows.map((row) => JSON.stringify(row.values[key] ?? null))).size;
  const differ = recorded.filter((column) => distinct(column.key) > 1);
  const same = recorded.length - differ.length;
  const claims = same ? [madeClaim("claim.lineage.same_columns", "clear", { n: same })] : [];
  if (!recorded.length) claims.push(madeClaim("claim.lineage.no_columns", "unknown"));
  return { differ, claims };
}

/**
 * Open the dialog with the settings and results that differ between the given runs.
 * @param {import("../../core/types.js").App} app
 * @param {import("./axes.js").Column[]} columns
 * @param {import("./axes.js").Row[]} rows
 */
export function differenceDialog(app, columns, rows) {
  const { differ, claims } = comparedColumns(columns, rows);
  const text = (/** @type {unknown} */ value) =>
    value === undefined ? "–" : typeof value === "number" ? app.format.number(value, 6) : plainText(value);
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
  const counts = claims.map((claim) => claimElement(app, claim, { class: "muted" }));
  dialog({
    title: app.t("lineage.difference"),
    body: differ.length ? [table, ...counts] : counts,
    close: app.t("common.close"),
    wide: true,
  });
}
