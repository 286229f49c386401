// Data that a run recorded and no page shows.

import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Row
 * @property {string} plugin
 * @property {string} tag
 * @property {number} count
 * @property {number | null} first_step
 * @property {number | null} last_step
 * @property {number | null} size bytes
 */

/**
 * Request and draw the data of a run for which there is no page. The panel is hidden if there is none.
 * @param {App} app
 * @param {HTMLElement} panel
 * @param {import("../../core/types.js").Run} run
 */
export function otherPanel(app, panel, run) {
  return latest(panel).ask(
    (signal) => app.api.get("v2/other/list", { run: run.id }, { signal }),
    ({ rows }) => {
      panel.hidden = !rows.length;
      replace(panel, rows.length ? table(app, rows) : null);
    },
  );
}

/** Create the table by plugin and tag. @param {App} app @param {Row[]} rows */
function table(app, rows) {
  const { t, format } = app;
  const heads = ["other.plugin", "other.tag", "other.count", "other.steps", "other.size"];
  const steps = (/** @type {Row} */ { first_step: first, last_step: last }) =>
    first === null ? "–" : first === last ? String(first) : `${first} – ${last}`;
  const cells = (/** @type {Row} */ row) => [
    h("td", null, row.plugin || t("other.unknown")),
    h("td", { class: "mono" }, row.tag),
    h("td", { class: "number" }, String(row.count)),
    h("td", { class: "number" }, steps(row)),
    h("td", { class: "number" }, row.size === null ? "–" : format.bytes(row.size)),
  ];
  return [
    h("h2", null, t("other.title")),
    h("p", { class: "muted small" }, t("other.why")),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": t("other.title") },
      h(
        "table",
        { class: "table" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            heads.map((key) => h("th", { scope: "col" }, t(key))),
          ),
        ),
        h(
          "tbody",
          null,
          rows.map((row) => h("tr", null, cells(row))),
        ),
      ),
    ),
  ];
}
