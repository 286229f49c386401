// Tables of a comparison of runs: verdict for each tag, and the hyper-parameters that differ.

import { NOT_FINITE_BADGE, valueClass } from "../../components/hatching.js";
import { longName } from "../../components/long_name.js";
import { h } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { commonStart } from "../../core/names.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

/**
 * Verdicts: card row for each tag, card column for each run.
 * @param {App} app
 * @param {string} caption
 * @param {{verdict: HTMLElement}[]} cards
 * @param {Run[]} runs
 */
export function verdictTable(app, caption, cards, runs) {
  const start = commonStart(runs.map((run) => run.name));
  const heads = runs.map((run) =>
    h("th", { scope: "col" }, swatch(app, run.id), " ", longName(run.name, { start })),
  );
  const head = h("tr", null, h("th", { scope: "col" }, app.t("scalar.compare.tag")), heads);
  return folded(
    app.t("scalar.mode.compare"),
    caption,
    h(
      "table",
      { class: "table" },
      h("thead", null, head),
      h(
        "tbody",
        null,
        cards.map((card) => card.verdict),
      ),
    ),
    true,
  );
}

/**
 * A table that can be folded away under its heading.
 * @param {string} name
 * @param {string} title
 * @param {HTMLElement} table
 * @param {boolean} open
 */
function folded(name, title, table, open) {
  return h(
    "details",
    { class: "panel", open },
    h("summary", null, title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table),
  );
}

/**
 * Cell of a run and a tag: the step where the run parts from the baseline, and the largest difference.
 * @param {App} app
 * @param {any} series undefined for a run without the tag
 */
export function verdictCell(app, series) {
  if (!series) return h("td", { class: "muted" }, "–");
  if (!series.shared) return h("td", { class: "muted" }, app.t("scalar.compare.apart"));
  const parted = series.parted !== null;
  const badge = h(
    "span",
    { class: `badge ${parted ? "bad" : "ok"}` },
    parted ? app.t("scalar.compare.at", { step: number(series.parted, 12) }) : app.t("scalar.compare.never"),
  );
  const broken = series.not_finite ?? null;
  const lost = broken !== null && app.t("scalar.compare.not_finite", { step: number(broken, 12) });
  const most = series.largest
    ? app.t("scalar.compare.largest", { most: number(series.largest * 1000, 3) })
    : "";
  return h(
    "td",
    { title: app.t("scalar.compare.shared", { n: series.shared }) },
    badge,
    " ",
    lost && h("span", { class: NOT_FINITE_BADGE }, lost),
    lost && " ",
    h("span", { class: "muted" }, most),
  );
}

/** Hyper-parameters that are not the same in all runs. @param {App} app @param {Run[]} runs */
export function settingsTable(app, runs) {
  const keys = [...new Set(runs.flatMap((run) => Object.keys(run.hyper)))].sort();
  const differ = keys.filter(
    (key) => new Set(runs.map((run) => JSON.stringify(run.hyper[key] ?? null))).size > 1,
  );
  const same = keys.length ? "scalar.compare.same_settings" : "scalar.compare.no_settings";
  if (!differ.length) return h("p", { class: "muted" }, app.t(same));
  const text = (/** @type {any} */ value) =>
    value === undefined || value === null
      ? "–"
      : typeof value === "number"
        ? number(value, 6)
        : String(value);
  const start = commonStart(runs.map((run) => run.name));
  const head = h(
    "tr",
    null,
    h("td", null),
    runs.map((run) => h("th", { scope: "col" }, longName(run.name, { start }))),
  );
  const body = differ.map((key) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, key),
      runs.map((run) => text(run.hyper[key])).map((cell) => h("td", { class: valueClass(cell) }, cell)),
    ),
  );
  const title = app.t("scalar.compare.settings", { n: differ.length });
  return folded(
    title,
    title,
    h("table", { class: "table" }, h("thead", null, head), h("tbody", null, body)),
    !matchMedia("(max-width: 760px)").matches,
  );
}

/** @param {App} app @param {string} run */
function swatch(app, run) {
  return h("i", { class: "swatch", style: { background: app.selection.colour(run) } });
}
