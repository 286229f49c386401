// Empty state of a page for one kind of data: the reason and one action.

import { ofNewestJobs } from "../core/jobs.js";
import { NEWEST } from "../core/selection.js";
import { button } from "./button.js";
import { empty } from "./empty.js";
import { h } from "../core/dom.js";

/** @typedef {import("../core/types.js").App} App */

/**
 * Create the empty state of a page for one kind of data, by the reason: filter without a match, data in
 * hidden runs, files still being read, damaged records, or nothing recorded yet.
 * @param {App} app
 * @param {Object} page
 * @param {string} page.kind "histogram"
 * @param {string} [page.filter] that lets no tag through
 * @param {() => void} [page.clear] takes the filter away
 * @param {string} page.code how such data is recorded
 */
export function emptyState(app, { kind, filter, clear, code }) {
  const { selection, t } = app;
  if (filter) {
    const action = clear && button(t("empty.clear"), clear, { class: "primary" });
    return empty({ title: t(`${kind}.none_match`), text: filter, action });
  }
  const having = selection.all().filter((run) => run.kinds[kind]);
  if (having.length) return elsewhere(app, kind, having);
  return (
    unread(app) ?? damaged(app) ?? empty({ title: t(`${kind}.none`), text: t(`${kind}.none_how`), code })
  );
}

/** Data of pages whose names are not what their runs have. @type {Record<string, string>} */
const NOUNS = { system: "system.noun", console: "console.noun" };

/**
 * Create the empty state for data in runs that are not shown, with a button that shows them.
 * @param {App} app
 * @param {string} kind
 * @param {import("../core/types.js").Run[]} having
 */
function elsewhere({ selection, t }, kind, having) {
  const newest = ofNewestJobs(having, NEWEST);
  const show = () => selection.only(newest.map((run) => run.id));
  const all = newest.length === having.length;
  const missing = selection.runs().length ? [] : selection.missing();
  const why = t("empty.elsewhere", { n: having.length, kind: inSentence(t(NOUNS[kind] ?? `nav.${kind}`)) });
  const names = missing.map((id) => id.slice(2)).join(", ");
  return empty({
    title: names ? t("error.unknown_run", { run: names }) : why,
    text: names ? why : t("empty.elsewhere.why"),
    action: button(t(all ? "empty.show" : "empty.show_newest", { n: newest.length }), show, {
      class: "primary",
    }),
  });
}

/** Return a page's name as written within a sentence: "histograms", but "PR curves". @param {string} name */
function inSentence(name) {
  return /^\p{Lu}\p{Lu}/u.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1);
}

/**
 * Create the empty state with the progress of reading, or return null if all files have been read.
 * @param {App} app
 * @param {import("../core/types.js").Run[]} [runs] default: the shown ones
 */
export function unread({ selection, t }, runs = selection.runs()) {
  const [read, total] = [sum(runs, "read"), sum(runs, "total")];
  if (read >= total) return null;
  return empty({ title: t("runs.loading", { percent: Math.floor((100 * read) / total) }) });
}

/** Return the empty state for shown runs with damaged records, or null if there are none. @param {App} app */
function damaged({ selection, t, url }) {
  const hurt = selection.runs().filter((run) => run.damage);
  if (!hurt.length) return null;
  const href = url.link("overview", { run: hurt[0].id });
  return empty({
    icon: "warning",
    title: t("empty.damaged", { n: sum(hurt, "damage") }),
    text: t("empty.damaged.why"),
    action: h("a", { class: "button primary", href }, t("empty.damaged.open", { run: hurt[0].name })),
  });
}

/**
 * Return the sum of a field over the runs.
 * @param {import("../core/types.js").Run[]} runs
 * @param {"read" | "total" | "damage"} field
 */
function sum(runs, field) {
  return runs.reduce((total, run) => total + run[field], 0);
}
