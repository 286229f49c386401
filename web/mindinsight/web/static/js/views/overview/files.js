// The files of a run: how far each has been read, and every stretch that could not be.

import { icon } from "../../components/icons.js";
import { tableHead } from "../../components/table_head.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} FileFacts
 * @property {string} name
 * @property {number} size
 * @property {number} modified
 * @property {number} read
 * @property {number} pending
 * @property {boolean} torn ends in a record that nobody will complete
 * @property {string} error
 * @property {Record<string, number>} skipped
 * @property {{offset: number, size: number, reason: string}[]} damage
 */

const LISTED = 100; // stretches per file

/** @param {App} app @param {HTMLElement} panel @param {import("../../core/types.js").Run} run */
export function filesPanel(app, panel, run) {
  return latest(panel).ask(
    (signal) => app.api.get("v2/runs/files", { run: run.id }, { signal }),
    ({ files }) => show(app, panel, files),
  );
}

/** @param {App} app @param {HTMLElement} panel @param {FileFacts[]} files */
function show(app, panel, files) {
  const { t } = app;
  const hurt = files.filter((file) => file.damage.length || file.error);
  const heads = ["overview.file", "overview.read", "runs.col.updated", "overview.state"];
  replace(
    panel,
    h("h2", null, t("overview.files", { n: files.length })),
    scrollable(
      t("overview.files", { n: files.length }),
      h(
        "table",
        { class: "table" },
        tableHead(heads.map((key) => t(key))),
        h(
          "tbody",
          null,
          files.map((file) => fileRow(app, file)),
        ),
      ),
    ),
    hurt.length
      ? damageReport(app, hurt)
      : files.some((file) => file.torn)
        ? null
        : h("p", { class: "muted small all-well" }, t("damage.none")),
  );
}

/** A wide table that the keyboard can move, too. @param {string} label @param {HTMLElement} table */
function scrollable(label, table) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

/** @param {App} app @param {FileFacts} file */
function fileRow(app, file) {
  const { t, format } = app;
  return h(
    "tr",
    null,
    h("td", { class: "mono file-name" }, file.name),
    h("td", null, readSoFar(app, file)),
    h("td", null, format.time(file.modified)),
    h("td", null, fileState(app, file), skipped(t, file)),
  );
}

/** @param {App} app @param {FileFacts} file */
function readSoFar({ t, format }, file) {
  return file.read === file.size
    ? format.bytes(file.size)
    : t("overview.of", { read: format.bytes(file.read), size: format.bytes(file.size) });
}

/** @param {App} app @param {FileFacts} file */
function fileState(app, file) {
  const { t, format } = app;
  if (file.error) return h("span", { class: "badge bad" }, t(file.error));
  if (file.damage.length) {
    return h("span", { class: "badge warn" }, t("damage.short", { n: file.damage.length }));
  }
  if (file.torn) {
    const text = t("damage.torn.size", { size: format.bytes(file.pending) });
    return h("span", { class: "badge warn", title: t("damage.torn.why") }, text);
  }
  if (file.pending) {
    return h("span", { class: "badge" }, t("damage.pending", { size: format.bytes(file.pending) }));
  }
  return h("span", { class: "badge ok" }, t("damage.whole"));
}

/** @param {import("../../core/types.js").Translate} t @param {FileFacts} file */
function skipped(t, file) {
  return Object.entries(file.skipped).map(([kind, n]) =>
    h(
      "span",
      { class: "badge" },
      kind === "rounded_integer" ? t("damage.rounded", { n }) : t("damage.skipped", { kind, n }),
    ),
  );
}

/** @param {App} app @param {FileFacts[]} files */
function damageReport(app, files) {
  const { t, format } = app;
  const heads = ["overview.file", "damage.offset", "damage.size", "damage.why"];
  const rows = files.flatMap((file) => [
    ...file.damage
      .slice(0, LISTED)
      .map((record) =>
        h(
          "tr",
          null,
          h("td", { class: "mono" }, file.name),
          h("td", { class: "number" }, record.offset.toLocaleString("en")),
          h("td", { class: "number" }, format.bytes(record.size)),
          h("td", null, t(record.reason)),
        ),
      ),
    file.damage.length > LISTED
      ? h(
          "tr",
          null,
          h("td", { colspan: 4, class: "muted" }, t("damage.rest", { n: file.damage.length - LISTED })),
        )
      : null,
    file.error
      ? h("tr", null, h("td", { class: "mono" }, file.name), h("td", { colspan: 3 }, t(file.error)))
      : null,
  ]);
  return h(
    "section",
    { class: "damage", id: "damage" },
    h("div", { class: "banner warn" }, icon("warning"), h("p", null, t("damage.explained"))),
    scrollable(
      t("runs.col.damage"),
      h(
        "table",
        { class: "table" },
        tableHead(
          heads.map((key) => t(key)),
          [1, 2],
        ),
        h("tbody", null, rows),
      ),
    ),
  );
}
