// Files of a run: how far each has been read, and every damaged section.

import { icon } from "../../components/icons.js";
import { tableHead } from "../../components/table_head.js";
import { claimElement, claimText } from "../../core/claims.js";
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
 * @property {import("../../core/claims.js").Claim[]} claims what could not be read, and is not shown
 * @property {{offset: number, size: number, reason: string}[]} damage
 */

const LISTED = 100; // stretches per file
/** @type {Record<string, string>} */
const BADGES = {
  "claim.file.unreadable": "badge bad",
  "claim.file.damaged": "badge warn",
  "claim.file.torn": "badge warn",
  "claim.file.read": "badge ok",
};

/**
 * Request the files of a run and draw them in a panel.
 * @param {App} app
 * @param {HTMLElement} panel
 * @param {import("../../core/types.js").Run} run
 */
export function filesPanel(app, panel, run) {
  return latest(panel).ask(
    (signal) => app.api.get("v2/runs/files", { run: run.id }, { signal }),
    ({ files, claims }) => show(app, panel, files, claims),
  );
}

/**
 * Draw the files.
 * @param {App} app
 * @param {HTMLElement} panel
 * @param {FileFacts[]} files
 * @param {import("../../core/claims.js").Claim[]} claims of the run
 */
function show(app, panel, files, claims) {
  const { t } = app;
  const hurt = files.filter((file) => file.damage.length || file.error);
  const heads = ["overview.file", "overview.read", "runs.col.updated", "overview.state"];
  replace(
    panel,
    h("h2", null, t("overview.files", { n: files.length })),
    /** Create a scrolling region that the keyboard can reach. */
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
    hurt.length ? damageReport(app, hurt) : null,
    claims.map((claim) => claimElement(app, claim, { class: "muted small all-well" })),
  );
}

/** A wide table that the keyboard can move, too. @param {string} label @param {HTMLElement} table */
function scrollable(label, table) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

/** Create the row of a file. @param {App} app @param {FileFacts} file */
function fileRow(app, file) {
  const { format } = app;
  return h(
    "tr",
    null,
    h("td", { class: "mono file-name" }, file.name),
    h("td", null, readSoFar(app, file)),
    h("td", null, format.time(file.modified)),
    h("td", null, fileState(app, file)),
  );
}

/** Return how much of a file has been read. @param {App} app @param {FileFacts} file */
function readSoFar({ t, format }, file) {
  return file.read === file.size
    ? format.bytes(file.size)
    : t("overview.of", { read: format.bytes(file.read), size: format.bytes(file.size) });
}

/** Create the claims about a file. @param {App} app @param {FileFacts} file */
function fileState(app, file) {
  return file.claims.map((claim) => {
    const title = claim.key === "claim.file.torn" ? app.t("damage.torn.why") : null;
    const classes = BADGES[claim.key] ?? "badge";
    return h("span", { class: classes, title, "data-claim": claim.key }, claimText(app, claim));
  });
}

/** Create the table of damaged sections. @param {App} app @param {FileFacts[]} files */
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
