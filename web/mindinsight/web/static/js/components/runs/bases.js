// The base directories above the table: which there are, how changes are noticed, and the search for one of
// them.

import { button } from "../button.js";
import { h, renew } from "../../core/dom.js";
import { directoryOf } from "./values.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").RunList} RunList */
/** @typedef {import("../../core/types.js").Base} Base */

const SHOWN = 12; // the names of more would be a page of their own; the search finds all

/**
 * Create the list of base directories. A click searches for the runs of one.
 * @param {App} app
 * @param {(text: string) => void} onsearch a search to do instead
 */
export function createBases(app, onsearch) {
  const { t } = app;
  const element = h("span", { class: "row wrap muted bases" });
  let shownState = "";

  /** @param {RunList} list @param {string} search what is searched for */
  const draw = (list, search) => {
    const state = JSON.stringify([list.bases, list.watch, search]);
    if (state === shownState) return; // what somebody may be pressing stays
    shownState = state;
    const named = list.bases.filter((base) => base.name);
    const more = named.slice(SHOWN).map((base) => base.name);
    const moreBases = more.length
      ? h("span", { title: more.join("\n") }, t("runs.dirs.more", { n: more.length }))
      : null;
    renew(
      element,
      ...named.slice(0, SHOWN).map((base) => chip(base, search)),
      moreBases,
      named.length ? watched(app, list) : null,
    );
  };

  /** @param {Base} base @param {string} search */
  const chip = (base, search) => {
    const on = searchFor(search, base.name) === search;
    const how = base.missing ? t("runs.dirs.missing") : t(`runs.watch.${base.watch}`);
    return button(base.name, () => onsearch(on ? without(search) : searchFor(search, base.name)), {
      class: base.missing ? "chip missing" : "chip",
      title: `${base.path}\n${how}`,
      "aria-pressed": on,
    });
  };

  return { element, draw };
}

/**
 * Return the path of the base directory and how it is watched; null if there are several.
 * @param {App} app
 * @param {RunList} list
 */
export function onlyBase(app, list) {
  if (list.bases.some((base) => base.name)) return null;
  return [
    " · ",
    h("span", { class: "mono", title: list.base }, list.base),
    list.watch && [" · ", watched(app, list)],
  ];
}

/** Create the text that says how changes are noticed. @param {App} app @param {RunList} list */
function watched(app, list) {
  return h("span", { title: app.t(`runs.watch.${list.watch}.why`) }, app.t(`runs.watch.${list.watch}`));
}

/** Return a search without its condition on the base directory. @param {string} search */
function without(search) {
  return search.replace(/(^|\s+)dir=(?:"[^"]*"|\S)+/g, "").trim();
}

/**
 * Return a search for the runs of one directory that keeps all other conditions.
 * @param {string} search
 * @param {string} name
 */
export function searchFor(search, name) {
  return `${without(search)} dir=${/\s/.test(name) ? `"${name}"` : name}`.trim();
}

/** Return the paths of all base directories as text. @param {RunList} list */
export function basePaths(list) {
  return list.bases.map((base) => base.path).join(", ") || list.base;
}

/**
 * Return the column of the base directory; [] if there is only one.
 * @param {App} app
 * @returns {import("./columns.js").TableColumn[]}
 */
export function directoryColumn(app) {
  const value = (/** @type {import("../../core/types.js").Run} */ run) => directoryOf(app, run);
  return app.selection.list().bases.some((base) => base.name)
    ? [{ key: "dir", label: app.t("runs.col.dir"), value, cell: value }]
    : [];
}
