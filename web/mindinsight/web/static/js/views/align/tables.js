// Table of an alignment.

import { NON_FINITE_BADGE } from "../../components/hatching.js";
import { longName } from "../../components/long_name.js";
import { onsetCells } from "../../components/onset_bar.js";
import { tableHead } from "../../components/table_head.js";
import { claimElement } from "../../core/claims.js";
import { h } from "../../core/dom.js";
import { exactPattern } from "../../core/patterns.js";
import { shareText } from "./units.js";

/** @typedef {import("../../core/answers.js").Alignment} Alignment */
/** @typedef {import("../../core/claims.js").Claim} Claim */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/answers.js").AlignedTag} Row */

const BADGES = { found: "badge warn", clear: "badge ok", unknown: "badge", note: "badge" };

/**
 * Create the table of an alignment, a row for each compared scalar.
 * @param {App} app
 * @param {Alignment} answer
 * @param {Row[]} rows
 * @param {number} last common step
 */
export function alignmentTable(app, answer, rows, last) {
  const { t } = app;
  const head = tableHead(
    [
      t("scalar.compare.tag"),
      t("align.verdict"),
      h("span", { title: t("align.onset.how") }, t("align.onset")),
      t("align.course"),
      h(
        "span",
        { title: t("align.beyond.how") },
        t("align.beyond", { tolerance: shareText(answer.tolerance) }),
      ),
      h("span", { title: t("align.usual.how") }, t("align.usual")),
      t("align.largest"),
      t("why.look"),
    ],
    [2, 4, 5, 6],
  );
  return h(
    "table",
    { class: "table" },
    head,
    h(
      "tbody",
      null,
      rows.map((row) => alignmentRow(app, answer, row, last)),
    ),
  );
}

/**
 * Create the row of a tag.
 * @param {App} app
 * @param {Alignment} answer
 * @param {Row} row
 * @param {number} last
 */
function alignmentRow(app, answer, row, last) {
  const { t, format } = app;
  const { tag, other, verdict, claim, onset, beyond, broken } = row;
  const badge = verdict === "not_finite" ? NON_FINITE_BADGE : BADGES[claim.verdict];
  const name = tag === other ? tag : `${tag} ↔ ${other}`;
  const size = (/** @type {number | null} */ value) =>
    value === null ? "–" : row.absolute ? format.number(value) : shareText(value);
  return h(
    "tr",
    null,
    h("th", { scope: "row" }, longName(name)),
    h("td", null, claimElement(app, claim, { class: `align-verdict ${badge}` })),
    ...onsetCells(app, onset, onset === broken, last),
    h("td", { class: "number" }, beyond === null ? t("align.never") : format.number(beyond)),
    h("td", { class: "number" }, size(row.typical)),
    h("td", { class: "number" }, size(row.largest)),
    h("td", { class: "look" }, links(app, answer, row)),
  );
}

/**
 * Create links to the difference curve, and to the dumps if both runs have some.
 * @param {App} app
 * @param {Alignment} answer
 * @param {Row} row
 */
function links(app, { run, baseline, tolerance }, { tag, other }) {
  const ids = [baseline, run];
  const runs = ids.map((id) => id.slice(2).replaceAll("%", "%25").replaceAll(",", "%2C") || ".").join(",");
  const compare = { runs, m: "compare", baseline: baseline.slice(2) || ".", tol: tolerance };
  const shown = tag === other ? { q: exactPattern(tag) } : { pair: `${tag}|${other}` };
  const dumps = ids.every((id) => app.selection.run(id)?.dumps.length);
  return [
    h("a", { href: app.url.link("scalar", { ...compare, ...shown }) }, app.t("align.curve")),
    dumps ? h("a", { href: app.url.link("dump", { runs }) }, app.t("nav.dump")) : null,
  ];
}
