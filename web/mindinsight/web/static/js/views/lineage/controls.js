// Toolbar of the parallel axes, and the dialog that chooses axes.

import { button } from "../../components/button.js";
import { checklist } from "../../components/checklist.js";
import { dialog } from "../../components/dialog.js";
import { check, select } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { isBrushed } from "./axes.js";
import { labelOf, logAxes, SCALAR } from "./columns.js";
import { differenceDialog } from "./difference.js";
import { trialsAmong } from "./of_study.js";

/** @typedef {import("../lineage.js").Lineage} Lineage */

/** Create the toolbar of the parallel axes. @param {Lineage} view */
export function toolbar(view) {
  const { app, data, state, brushes, selectedRuns } = view;
  const { t } = app;
  const numeric = data.columns
    .filter((column) => column.numeric)
    .map((column) => ({ value: column.key, label: column.label }));
  const known = new Set(numeric.map(({ value }) => value));
  const scalars = (data.scalars ?? [])
    .map((tag) => ({ value: SCALAR + tag, label: labelOf(t, SCALAR + tag) }))
    .filter(({ value }) => !known.has(value));
  const none = state.objective ? [] : [{ value: "", label: "–" }];
  const objective = select({
    label: t("lineage.objective"),
    options: [...none, ...numeric, ...scalars],
    value: state.objective,
    onchange: (value) => view.aim(value),
  });
  objective.box.dataset.focus = "objective";
  const tints = check({
    label: t("lineage.tint"),
    checked: view.tinted(),
    onchange: (on) => view.setTint(on),
  });
  tints.box.dataset.focus = "tint";
  tints.box.disabled = !state.objective;
  const plot = view.plot();
  const inside = data.rows.filter((row) => isBrushed(plot, row)).map((row) => row.run);
  const showOnly = () => {
    brushes.clear();
    view.keep();
    app.selection.only(inside);
  };
  const compare = () =>
    differenceDialog(
      app,
      data.columns,
      data.rows.filter((row) => selectedRuns.has(row.run)),
    );
  const clear = () => (brushes.clear(), view.draw());
  return h(
    "div",
    { class: "toolbar" },
    among(view),
    objective,
    tints,
    button(t("lineage.choose"), () => chooseAxes(view)),
    selectedRuns.size > 1 && button(t("lineage.difference"), compare),
    brushes.size > 0 && button(t("lineage.clear"), clear),
    brushes.size > 0 && inside.length > 0 && button(t("lineage.only"), showOnly),
    h("span", { class: "muted" }, countText(view, inside.length)),
  );
}

/**
 * Create the choice between the trials of the study and all runs; null if these are the same.
 * @param {Lineage} view
 */
function among(view) {
  const { app, state, study } = view;
  const trials = trialsAmong(app.selection, study.study);
  if (!trials.size || app.selection.all().every(({ id, lineage }) => !lineage || trials.has(id))) return null;
  return select({
    label: app.t("lineage.among"),
    options: [
      { value: "trials", label: app.t("lineage.among.trials", { study: study.study?.name ?? "" }) },
      { value: "all", label: app.t("lineage.among.all") },
    ],
    value: state.all ? "all" : "trials",
    onchange: (value) => view.setAll(value === "all"),
  });
}

/**
 * Return what the page counts: runs with settings, which may be more than those in the charts.
 * @param {Lineage} view
 * @param {number} inside runs inside every brush
 */
function countText({ app, brushes, data }, inside) {
  const all = data.rows.length;
  if (brushes.size) return app.t("lineage.count", { n: inside, all });
  const shown = new Set(app.selection.runs().map(({ id }) => id));
  const isMore = data.rows.some(({ run }) => !shown.has(run));
  return app.t(isMore ? "lineage.count.all" : "lineage.count.settings", { n: all });
}

/** Open the dialog that chooses axes. @param {Lineage} view */
function chooseAxes(view) {
  const { app, data, state } = view;
  const { t } = app;
  const checked = new Set(view.axes().map((column) => column.key));
  const items = data.columns.map((column) => ({ value: column.key, label: column.label }));
  const list = checklist({
    label: t("lineage.choose"),
    filter: t("lineage.filter"),
    allLabel: t("common.all"),
    noneLabel: t("common.none"),
    items,
    checked,
    onchange: () => {},
  });
  const logs = logAxes(data, state.logs);
  const boxes = data.columns
    .filter((column) => column.numeric)
    .map((column) => {
      /** @type {HTMLInputElement} */
      const box = h("input", {
        type: "checkbox",
        checked: logs.has(column.key),
        onchange: () => {
          const [on, off] = [column.key, `!${column.key}`];
          state.logs.delete(box.checked ? off : on);
          state.logs.add(box.checked ? on : off);
        },
      });
      return h("label", { class: "check" }, box, h("span", null, t("lineage.log", { axis: column.label })));
    });
  const close = button(
    t("lineage.apply"),
    () => {
      state.axes = data.columns.map((column) => column.key).filter((key) => checked.has(key));
      box.close();
      view.draw();
    },
    { class: "primary" },
  );
  const box = dialog({
    title: t("lineage.choose"),
    body: h("div", { class: "lineage-row" }, list, h("div", { class: "stack" }, boxes)),
    actions: [close],
    close: t("common.close"),
  });
}
