// Groups mode: runs grouped by a hyperparameter or a pattern on their names, each group as a mean with its
// band.

import { shortenTitles } from "../../components/card.js";
import { h, replace } from "../../core/dom.js";
import { countJobs } from "../../core/jobs.js";
import { mainTag } from "../../components/main_tag.js";
import { isOfEvaluation } from "../../components/runs/joined.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { differing, GROUP, traitOf } from "../../core/run_traits.js";
import { binsOf, usualSetting } from "./criteria.js";
import { groupCard, groupColour, MOST, WITH_RANGE } from "./group_card.js";
import { groupNotes } from "./group_notes.js";
import { emptyPart } from "./mode_view.js";
import { BY_NAME, groupingControls, NAME } from "./group_controls.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./group_card.js").Group} Group */

/**
 * Group the selected runs by a criterion. Groups of numbers are in their order, runs without a value last.
 * @param {Page} page
 * @param {string} by "hyper:<key>", "name:<pattern>", or `GROUP`
 * @returns {Group[]}
 */
export function groupsBy(page, by) {
  const runs = page.app.selection.runs();
  const values = runs.map((run) => traitOf(run, by));
  const bins = by.startsWith(NAME) ? null : binsOf(values, page.options().bins);
  /** @type {Map<string, Group & {at: number}>} */
  const groups = new Map();
  values.forEach((value, i) => {
    const number = typeof value === "number" && Number.isFinite(value) ? value : null;
    const ends = bins && number !== null ? bins.label(bins.of(number)) : null;
    const label = ends ? rangeText(page.app, ends) : groupLabel(page.app, by, value);
    const group = groups.get(label) ?? { label, runs: [], at: number ?? Infinity };
    group.runs.push(runs[i].id);
    groups.set(label, group);
  });
  const byText = new Intl.Collator(undefined, { numeric: true });
  return [...groups.values()]
    .sort((a, b) => (a.at === b.at ? byText.compare(a.label, b.label) : a.at - b.at))
    .map(({ label, runs: members }) => ({ label, runs: members }));
}

/** Return a bin's ends as text. @param {App} app @param {string[]} ends */
function rangeText({ t }, [low, high]) {
  return high === undefined ? low : t("scalar.groups.range", { low, high });
}

/**
 * Return a value as text. If it is missing or empty, say of what.
 * @param {App} app
 * @param {string} by
 * @param {unknown} value
 */
function groupLabel({ t }, by, value) {
  if (value === undefined || value === null || value === "") {
    if (by.startsWith(NAME)) return t("scalar.groups.other");
    const name = by === GROUP ? t("runs.col.group") : by.slice(by.indexOf(":") + 1);
    return t("scalar.groups.without", { name });
  }
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);
}

/**
 * Create the Groups mode of the scalars page: a card for each tag, a band for each group of runs.
 * @param {Page} page
 * @param {string[]} tags
 * @returns {import("./mode_view.js").Part}
 */
export function groupsView(page, tags) {
  const { app } = page;
  if (!app.selection.runs().length) return emptyPart({ title: app.t("scalar.groups.none") });
  const runs = app.selection.runs();
  const keys = differing(runs);
  const named = runs.some((run) => run.group);
  /** What the runs are grouped by until somebody chooses; "" before the first values have come. */
  let usual = named ? GROUP : keys.length ? "" : BY_NAME;
  const by = () => page.options().group || usual;
  const criteria = () => (page.options().group || !usual.startsWith("hyper:") ? 1 : keys.length);
  /** @type {Group[]} */
  let groups = [];
  const tag = usualTag(page.tags);
  const controls = h("div", { class: "toolbar" });
  const legend = h("div", { class: "row wrap scalar-legend" });
  const meaning = h("div", { class: "muted small" });
  const notes = groupNotes(app);
  const cards = tags.map((name) => groupCard(page, name, () => groups, notes.show, criteria));
  const elements = cards.map((card) => card.element);
  shortenTitles(elements);
  const requests = latest(legend);
  let drawn = "";
  const show = () => {
    const grouped = groupsBy(page, by());
    groups = grouped.slice(0, MOST);
    const controlled = JSON.stringify([by(), page.options().bins]);
    if (controlled !== drawn) replace(controls, groupingControls(page, keys, by(), named));
    drawn = controlled;
    app.selection.colouring.showGroups({ by: by(), colours: coloursOf(app, grouped) });
    replace(meaning, chosenText(page, usual, tag), bandText(page, groups.length));
    replace(legend, legendOf(app, groups, grouped.length - MOST));
    notes.begin(groups);
    cards.forEach((card) => card.load());
  };
  const load = () => {
    if (by()) return show();
    return requests.ask(
      (signal) => app.api.get("v2/runs/columns", { tag: [tag] }, { signal }),
      ({ tables }) => {
        usual = `hyper:${usualSetting(runs, lastValues(app, tables[tag]))}`;
        show();
      },
      leaveAsIs,
    );
  };
  const parts = [controls, legend, meaning, notes.element, h("div", { class: "cards" }, elements)];
  return {
    element: h("div", { class: "stack" }, parts),
    load,
    update: load,
    paint: () => cards.forEach((card) => card.paint()),
    end: () => {
      requests.end();
      cards.forEach((card) => card.end());
      app.selection.colouring.showGroups(null);
    },
  };
}

/**
 * Return the colours of runs by their groups. Groups that are not drawn are gray.
 * @param {App} app
 * @param {Group[]} groups
 * @returns {import("../../core/colouring.js").Colours}
 */
export function coloursOf(app, groups) {
  const colour = (/** @type {number} */ i) => (i < MOST ? groupColour(app, i) : app.theme.colour("--muted"));
  return {
    of: new Map(groups.flatMap(({ runs }, i) => runs.map((run) => [run, colour(i)]))),
    entries: groups.map(({ label, runs }, i) => ({ label, colour: colour(i), n: runs.length })),
    range: null,
    without: 0,
  };
}

/**
 * Return a function that looks up the last value of a run; undefined if the run has no value.
 * @param {App} app
 * @param {{runs: string[], last: import("../../core/types.js").Column}} table
 */
function lastValues({ api }, { runs, last }) {
  const values = api.column(last);
  const at = new Map(runs.map((id, i) => [id, values[i]]));
  return (/** @type {import("../../core/types.js").Run} */ run) => at.get(run.id);
}

/** Return the scalar that says most about how runs end. @param {string[]} tags */
function usualTag(tags) {
  const ordered = [...tags].sort((a, b) => Number(isOfEvaluation(b)) - Number(isOfEvaluation(a)));
  return mainTag(
    ordered.map((tag) => ({ tag })),
    /loss/i,
  );
}

/**
 * Return how the criterion was chosen, unless somebody chose it.
 * @param {Page} page
 * @param {string} usual
 * @param {string} tag
 */
function chosenText(page, usual, tag) {
  if (page.options().group || !usual.startsWith("hyper:")) return "";
  return page.app.t("scalar.groups.usual", { tag });
}

/**
 * Create the folded text of what the line and areas of groups show.
 * @param {Page} page
 * @param {number} count of groups
 */
function bandText(page, count) {
  const { t } = page.app;
  const { smooth, smoothKind, ended } = page.options();
  const kind = t(`scalar.smooth.${smoothKind}`);
  const texts = [
    t(count > WITH_RANGE ? "scalar.groups.band_many" : "scalar.groups.band"),
    t("scalar.groups.gap"),
    t("scalar.groups.lighter"),
    t(`scalar.groups.ended.${ended}.how`),
    smooth ? t("scalar.groups.smoothed", { kind }) : "",
  ];
  return h("details", null, h("summary", null, t("scalar.groups.how")), texts.join(" "));
}

/**
 * Create the legend: colour, name and size of each group.
 * @param {App} app
 * @param {Group[]} groups
 * @param {number} more groups that are not drawn
 */
function legendOf(app, groups, more) {
  const names = groups.map((group, i) =>
    h(
      "span",
      { class: "row small" },
      h("i", { class: "swatch", style: { background: groupColour(app, i) } }),
      `${group.label} (${countJobs(group.runs.flatMap((id) => app.selection.run(id) ?? []))})`,
    ),
  );
  return [names, more > 0 && h("span", { class: "muted small" }, app.t("scalar.groups.more", { n: more }))];
}
