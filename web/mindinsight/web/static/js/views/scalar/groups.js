// Groups mode: runs grouped by a hyperparameter or a pattern on their names, each group as a mean with its
// band.

import { shortenTitles } from "../../components/card.js";
import { searchBox, select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { countJobs } from "../../core/jobs.js";
import { differing, GROUP, traitOf } from "../../core/run_traits.js";
import { groupCard, groupColour, MOST, WITH_RANGE } from "./group_card.js";
import { emptyPart } from "./mode_view.js";
import { smoothingControls } from "./controls.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./group_card.js").Group} Group */

const NAME = "name:"; // how the address names a pattern, before the pattern
const BY_NAME = `${NAME}^[^/]+`;

/**
 * Group the selected runs by a criterion.
 * @param {Page} page
 * @param {string} by "hyper:<key>", "name:<pattern>", or `GROUP`
 * @returns {Group[]}
 */
export function groupsBy(page, by) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const run of page.app.selection.runs()) {
    const label = groupLabel(page.app, by, traitOf(run, by));
    groups.set(label, [...(groups.get(label) ?? []), run.id]);
  }
  return [...groups]
    .map(([label, runs]) => ({ label, runs }))
    .sort((a, b) => a.label.localeCompare(b.label, undefined, { numeric: true }));
}

/**
 * Return a value as text with at most six digits. If it is missing or empty, say of what.
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
  const keys = differing(app.selection.runs());
  const named = app.selection.runs().some((run) => run.group);
  const usual = named ? GROUP : keys.length ? `hyper:${keys[0]}` : BY_NAME;
  const by = () => page.options().group || usual;
  /** @type {Group[]} */
  let groups = [];
  const { chooser, pattern } = groupingControls(page, keys, by(), named);
  const ended = endedControl(page);
  const legend = h("div", { class: "row wrap scalar-legend" });
  const meaning = h("p", { class: "muted small" });
  const cards = tags.map((tag) => groupCard(page, tag, () => groups));
  const elements = cards.map((card) => card.element);
  shortenTitles(elements);
  const load = () => {
    pattern.hidden = !by().startsWith(NAME);
    const grouped = groupsBy(page, by());
    groups = grouped.slice(0, MOST);
    app.selection.colouring.showGroups({ by: by(), colours: coloursOf(app, grouped) });
    replace(meaning, bandText(page, groups.length));
    replace(legend, legendOf(app, groups, grouped.length - MOST));
    cards.forEach((card) => card.load());
  };
  return {
    element: h(
      "div",
      { class: "stack" },
      h("div", { class: "toolbar" }, chooser, pattern, ended, smoothingControls(page)),
      legend,
      meaning,
      h("div", { class: "cards" }, elements),
    ),
    load,
    update: load,
    paint: () => cards.forEach((card) => card.paint()),
    end: () => {
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
 * Create the choice of the criterion.
 * @param {Page} page
 * @param {string[]} keys of hyper-parameters that differ
 * @param {string} by as in the address
 * @param {boolean} grouped whether runs have groups that a person gave
 */
function groupingControls(page, keys, by, grouped) {
  const { t } = page.app;
  const named = by.startsWith(NAME);
  const chooser = select({
    label: t("scalar.groups.by"),
    options: [
      ...(grouped ? [{ value: GROUP, label: t("runs.col.group") }] : []),
      ...keys.map((key) => ({ value: `hyper:${key}`, label: key })),
      { value: NAME, label: t("scalar.groups.name") },
    ],
    value: named ? NAME : by,
    onchange: (value) => page.change({ group: value === NAME ? BY_NAME : value }),
  });
  const pattern = searchBox({
    label: t("scalar.groups.pattern"),
    value: (named ? by : BY_NAME).slice(NAME.length),
    delay: 400,
    onchange: (value) => page.change({ group: `${NAME}${value}` }),
  });
  return { chooser, pattern };
}

/** Create the choice of how runs count after their end. @param {Page} page */
function endedControl(page) {
  const { t } = page.app;
  return select({
    label: t("scalar.groups.ended"),
    options: /** @type {const} */ (["hold", "drop", "common"]).map((value) => ({
      value,
      label: t(`scalar.groups.ended.${value}`),
    })),
    value: page.options().ended,
    onchange: (value) => page.change({ ended: /** @type {"hold" | "drop" | "common"} */ (value) }),
  });
}

/** Return what the line and areas of groups show. @param {Page} page @param {number} count of groups */
function bandText(page, count) {
  const { t } = page.app;
  const { smooth, smoothKind, ended } = page.options();
  const kind = t(`scalar.smooth.${smoothKind}`);
  return [
    t(count > WITH_RANGE ? "scalar.groups.band_many" : "scalar.groups.band"),
    t("scalar.groups.gap"),
    t(`scalar.groups.ended.${ended}.how`),
    smooth ? t("scalar.groups.smoothed", { kind }) : "",
  ].join(" ");
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
