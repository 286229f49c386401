// Banners above the runs table, and its empty state.

import { button } from "../../components/button.js";
import { damageBanner } from "../../components/damage.js";
import { empty, loading } from "../../components/empty.js";
import { icon } from "../../components/icons.js";
import { h } from "../../core/dom.js";
import { basePaths } from "../../components/runs/bases.js";

/** @typedef {import("../../core/types.js").App} App */

const UNREADABLE = new Set(["directory.permission", "directory.unreadable"]);

/** Return code that writes a first run. @param {string} base directory of the server */
const example = (base) => `from mindinsight.writer import SummaryRecord

with SummaryRecord(${JSON.stringify(`${base}/first`)}) as record:
    for step in range(100):
        record.add_value("scalar", "loss", 1 / (step + 1))
        record.record(step)`;

/**
 * Create the banners above the runs table: missing directory, progress of reading, runs left out, unreadable
 * directories, damage.
 * @param {App} app
 * @param {import("../../core/types.js").RunList} list
 */
export function banners(app, list) {
  const { t, selection } = app;
  const read = list.runs.reduce((sum, run) => sum + run.read, 0);
  const total = list.runs.reduce((sum, run) => sum + run.total, 0);
  const percent = total ? Math.floor((100 * read) / total) : 100;
  const bar = h("div", { class: "progress" }, h("i", { style: { width: `${percent}%` } }));
  return [
    list.base_missing && list.bases.every((base) => !base.name)
      ? h("div", { class: "banner bad" }, icon("warning"), t("runs.base_missing", { base: list.base }))
      : null,
    percent < 100
      ? h(
          "div",
          { class: "banner" },
          icon("info"),
          h("div", { class: "grow" }, t("runs.loading", { percent }), bar),
        )
      : null,
    list.left_out
      ? h(
          "div",
          { class: "banner warn" },
          icon("info"),
          t("runs.left_out", { n: list.left_out, most: list.runs.length }),
        )
      : null,
    ...list.errors
      .slice(0, 3)
      .map((error) =>
        h("div", { class: "banner warn" }, icon("warning"), t(error.reason, { path: error.path })),
      ),
    damageBanner(app, selection.all(), list.now),
  ];
}

/** Create the empty state of the runs table for a directory without runs. @param {App} app */
export function nothing(app) {
  const list = app.selection.list();
  const base = basePaths(list);
  const refused = list.errors.find((error) => UNREADABLE.has(error.reason));
  if (refused) {
    return empty({
      icon: "warning",
      title: app.t("runs.unreadable"),
      text: app.t("runs.unreadable.why", { base, why: app.t(refused.reason, { path: refused.path }) }),
    });
  }
  if (!list.scanned) return loading(app.t("common.loading"));
  return empty({
    icon: "runs",
    title: app.t("runs.empty"),
    text: app.t("runs.empty.why", { base }),
    code: example(list.bases[0]?.path ?? list.base),
  });
}

/**
 * Create the empty state where there are runs but none is listed, with a way back.
 * @param {App} app
 * @param {boolean} searched otherwise all runs are hidden
 * @param {number} hidden hidden runs that match the search
 * @param {() => void} back clears the search or shows hidden runs
 */
export function noMatch({ t }, searched, hidden, back) {
  return empty({
    icon: "search",
    title: t(searched ? "runs.search.none" : "runs.none_visible"),
    text: searched && hidden ? t("runs.search.none.hidden", { n: hidden }) : undefined,
    action: button(t(searched ? "runs.search.clear" : "runs.show.all"), back),
  });
}
