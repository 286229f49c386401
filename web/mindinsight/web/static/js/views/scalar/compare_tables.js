// Tables of a comparison: a verdict per tag and run, and the hyperparameters that differ.

import { NON_FINITE_BADGE, valueClass } from "../../components/hatching.js";
import { longName } from "../../components/long_name.js";
import { claimElement, claimText, madeClaim } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { sharedPath } from "../../core/names.js";
import { namesRuns } from "../../core/run_traits.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../core/claims.js").Claim} Claim */

const NAMED = 5; // settings that are named in a sentence

/**
 * Create the table of verdicts.
 * @param {App} app
 * @param {string} caption
 * @param {import("./difference_card.js").DifferenceCard[]} cards
 * @param {Run[]} runs
 */
export function verdictTable(app, caption, cards, runs) {
  const start = sharedPath(runs.map((run) => run.name));
  const heads = runs.map((run) =>
    h("th", { scope: "col" }, swatch(app, run.id), " ", longName(run.name, { start })),
  );
  const head = h("tr", null, h("th", { scope: "col" }, app.t("scalar.compare.tag")), heads);
  const rows = cards.map((card) => {
    const name = h("th", { scope: "row" }, longName(card.name));
    const row = h(
      "tr",
      null,
      name,
      runs.map(() => h("td", { class: "muted" }, "…")),
    );
    card.onverdict.push((series) =>
      replace(
        row,
        name,
        runs.map((run) => verdictCell(app, series.get(run.id))),
      ),
    );
    return row;
  });
  const table = h("table", { class: "table" }, h("thead", null, head), h("tbody", null, rows));
  return folded(app.t("scalar.mode.compare"), caption, table, true);
}

/**
 * Create a collapsible section with a table.
 * @param {string} name
 * @param {string} title
 * @param {HTMLElement} table
 * @param {boolean} open
 */
export function folded(name, title, table, open) {
  return h(
    "details",
    { class: "panel", open },
    h("summary", null, title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table),
  );
}

/**
 * Create the cell with the claims about one run and tag.
 * @param {App} app
 * @param {import("../../core/answers.js").ComparedSeries | undefined} series none without the tag
 */
export function verdictCell(app, series) {
  if (!series) return h("td", { class: "muted" }, "–");
  const badges = series.claims.map((claim) => {
    const verdict =
      claim.verdict === "found" ? "badge bad" : claim.verdict === "clear" ? "badge ok" : "badge";
    const classes = claim.key === "claim.compare.non_finite" ? NON_FINITE_BADGE : verdict;
    return [h("span", { class: classes, "data-claim": claim.key }, claimText(app, claim)), " "];
  });
  return h("td", { class: "verdicts" }, badges);
}

/**
 * Return the settings that differ, and claims about them. A setting that a run did not record may be equal or
 * not.
 * @param {{hyper: Record<string, unknown>}[]} runs
 * @returns {{names: string[], claims: Claim[]}} names of other values or not recorded by all, those that only
 *   name runs last
 */
export function comparedSettings(runs) {
  const every = [...new Set(runs.flatMap((run) => Object.keys(run.hyper)))].sort();
  const recorded = (/** @type {string} */ name) =>
    runs.map((run) => run.hyper[name] ?? null).filter((value) => value !== null);
  const values = (/** @type {string} */ name) =>
    new Set(recorded(name).map((value) => JSON.stringify(value)));
  const various = every.filter((name) => values(name).size > 1);
  const own = (/** @type {string} */ name) =>
    namesRuns(
      name,
      runs.map((run) => run.hyper[name]),
    );
  const [differ, naming] = [various.filter((name) => !own(name)), various.filter(own)];
  const partly = every.filter((name) => values(name).size === 1 && recorded(name).length < runs.length);
  if (!every.length) return { names: [], claims: [madeClaim("claim.compare.no_settings", "unknown")] };
  const claims = [];
  if (differ.length) claims.push(madeClaim("claim.compare.settings_differ", "found", { n: differ.length }));
  const listed = (/** @type {string[]} */ all) => ({
    n: all.length,
    names: all.length > NAMED ? [...all.slice(0, NAMED), "…"] : all,
  });
  if (partly.length) claims.push(madeClaim("claim.compare.settings_partly", "unknown", listed(partly)));
  const same = every.length - naming.length;
  if (!claims.length && same) claims.push(madeClaim("claim.compare.same_settings", "clear", { n: same }));
  if (naming.length) claims.push(madeClaim("claim.compare.settings_naming", "note", listed(naming)));
  const names = every.filter((name) => differ.includes(name) || partly.includes(name));
  return { names: [...names, ...naming], claims };
}

/** Create the table of settings that are not equal in all runs. @param {App} app @param {Run[]} runs */
export function settingsTable(app, runs) {
  const { names: differ, claims } = comparedSettings(runs);
  if (!differ.length) return settingsNote(app, runs);
  const start = sharedPath(runs.map((run) => run.name));
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
      runs
        .map((run) => settingText(run.hyper[key]))
        .map((cell) => h("td", { class: valueClass(cell) }, cell)),
    ),
  );
  const title = claims.map((claim) => claimText(app, claim)).join(app.t("stray.and"));
  return folded(
    title,
    title,
    h("table", { class: "table" }, h("thead", null, head), h("tbody", null, body)),
    !matchMedia("(max-width: 760px)").matches,
  );
}

/** Create the sentences about the settings of runs. @param {App} app @param {Run[]} runs */
export function settingsNote(app, runs) {
  const { claims } = comparedSettings(runs);
  return h(
    "div",
    null,
    claims.map((claim) => claimElement(app, claim, { class: "muted" })),
  );
}

/** Return a setting as text. @param {unknown} value */
export function settingText(value) {
  if (value === undefined || value === null) return "–";
  return typeof value === "number" ? number(value, 6) : String(value);
}

/** Create the colour mark of a run. @param {App} app @param {string} run */
export function swatch(app, run) {
  return h("i", { class: "swatch", style: { background: app.selection.colour(run) } });
}
