// Facts of a run: configuration, results, times and paths.

import { durationText, startText } from "../../components/runs/recorded_times.js";
import { lastStep } from "../../components/runs/values.js";
import { h, replace } from "../../core/dom.js";

/**
 * Draw the facts of a run in a panel: configuration, results, times and paths.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} panel
 * @param {import("../../core/types.js").Run} run
 */
export function factsPanel(app, panel, run) {
  const { t, format } = app;
  const own = {
    [t("overview.id")]: h("code", null, run.id),
    [t("runs.col.created")]: startText(app, run),
    [t("runs.col.last_event")]: format.time(run.last_event),
    [t("runs.col.duration")]: durationText(app, run),
    [t("common.step")]: format.step(lastStep(run)),
    [t("runs.col.size")]: format.bytes(run.size),
    ...(run.dumps.length
      ? {
          [t("nav.dump")]: run.dumps.map((dump) =>
            h("a", { class: "row", href: app.url.link("dump", { dump }) }, dump.replace(/^\.\//, "")),
          ),
        }
      : {}),
  };
  const differing = differences(app, run);
  replace(
    panel,
    h(
      "div",
      { class: "fact-columns" },
      block(t("overview.facts"), own),
      block(t("runs.cols.hyper"), valueTable(app, run.hyper)),
      block(t("overview.metrics"), valueTable(app, run.metrics)),
      differing,
    ),
  );
}

/**
 * Create a titled list, or return null if it is empty.
 * @param {string} title
 * @param {Record<string, unknown>} facts
 */
function block(title, facts) {
  const rows = Object.entries(facts).flatMap(([name, value]) => [
    h("dt", { class: "ellipsis", title: name }, name),
    h("dd", null, /** @type {import("../../core/dom.js").Child} */ (value)),
  ]);
  return rows.length ? h("section", null, h("h2", null, title), h("dl", { class: "facts" }, rows)) : null;
}

/**
 * Return values as texts by name.
 * @param {import("../../core/types.js").App} app
 * @param {Record<string, unknown>} values
 */
function valueTable(app, values) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "number" ? app.format.number(value, 6) : String(value),
    ]),
  );
}

/**
 * Create the list of hyperparameters that differ from the baseline, or return null.
 * @param {import("../../core/types.js").App} app
 * @param {import("../../core/types.js").Run} run
 */
function differences(app, run) {
  const base = app.selection.baseline();
  if (!base || base.id === run.id) return null;
  const names = [...new Set([...Object.keys(base.hyper), ...Object.keys(run.hyper)])].filter(
    (name) => base.hyper[name] !== run.hyper[name],
  );
  const value = (/** @type {unknown} */ x) => (x === undefined ? "–" : String(x));
  const rows = Object.fromEntries(
    names.map((name) => [name, `${value(base.hyper[name])} → ${value(run.hyper[name])}`]),
  );
  return names.length ? block(app.t("overview.against", { run: base.name }), rows) : null;
}
