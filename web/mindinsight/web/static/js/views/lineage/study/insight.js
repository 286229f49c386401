// Importance of a study's parameters by a chosen method, and suggestions for the next trials.

import { select } from "../../../components/field.js";
import { tableHead } from "../../../components/table_head.js";
import { claimElement } from "../../../core/claims.js";
import { h } from "../../../core/dom.js";
import { parameterNames, valueText } from "./values.js";

/** @typedef {import("./panel.js").StudyPanel} StudyPanel */
/** @typedef {import("./types.js").Study} Study */

const METHODS = ["forest", "fanova", "ped_anova", "correlation"]; // the first says what the claims say

/**
 * Create the panel with the importance of a study's parameters by the chosen method.
 * @param {StudyPanel} panel
 */
export function importancePanel(panel) {
  const { app, importance } = panel;
  const { t } = app;
  const { targets } = /** @type {Study} */ (panel.study);
  const refresh = () => {
    panel.importance = null;
    panel.drawWeights();
    panel.learn();
  };
  const method = select({
    label: t("tuning.method"),
    options: METHODS.map((value) => ({ value, label: t(`tuning.method.${value}`) })),
    value: importance?.method ?? panel.method, // a package of the chosen method may be missing
    onchange: (value) => {
      panel.method = value;
      app.url.set({ importance: value === METHODS[0] ? null : value });
      refresh();
    },
  });
  const target = select({
    label: t("tuning.target"),
    options: targets.map(({ name }, i) => ({ value: String(i), label: name })),
    value: String(panel.target),
    onchange: (value) => {
      panel.target = Number(value);
      refresh();
    },
  });
  const title = t("tuning.importance", { target: targets[panel.target].name });
  return [
    h(
      "div",
      { class: "toolbar" },
      h("h2", { class: "panel-title grow" }, title),
      targets.length > 1 && target,
      method,
    ),
    bars(panel),
    importance?.missing
      ? h(
          "p",
          { class: "muted" },
          t("tuning.method.instead", {
            wanted: t(`tuning.method.${panel.method}`),
            name: importance.missing,
            method: t(`tuning.method.${importance.method}`),
          }),
        )
      : h("p", { class: "muted" }, t(`tuning.method.${panel.method}.what`)),
    importance && h("p", { class: "muted" }, t("tuning.method.trials", { n: importance.trials })),
  ];
}

/** Create the claims and bars, or say that they are being computed. @param {StudyPanel} panel */
function bars({ app, study, importance }) {
  const { t } = app;
  if (!importance) return h("p", { class: "muted", role: "status" }, t("tuning.computing"));
  const claims = importance.claims.map((claim) => claimElement(app, claim));
  const matter = new Set(
    importance.claims
      .filter(({ key }) => /^claim\.lineage\.matters/.test(key))
      .flatMap(({ evidence }) => evidence.map(({ setting }) => setting)),
  );
  const rows = Object.entries(importance.importance).sort(
    (a, b) => Number(matter.has(b[0])) - Number(matter.has(a[0])) || b[1] - a[1],
  );
  if (!rows.length) return claims;
  const end = Math.max(1, ...rows.map(([, share]) => share));
  const table = h(
    "table",
    { class: "importance" },
    h(
      "tbody",
      null,
      rows.map(([name, share]) =>
        h(
          "tr",
          { class: matter.has(name) ? null : "muted" },
          h("th", { scope: "row" }, name),
          h("td", { class: "bar" }, h("i", { style: { width: `${(share / end) * 100}%` } })),
          h("td", { class: "number" }, share.toFixed(2)),
        ),
      ),
    ),
  );
  const without = parameterNames(/** @type {Study} */ (study)).filter(
    (name) => !(name in importance.importance),
  );
  const names = without.join(", ");
  const grey = rows.some(([name]) => !matter.has(name));
  return [
    claims,
    table,
    grey && h("p", { class: "muted" }, t("tuning.within_chance")),
    names && h("p", { class: "muted" }, t("tuning.importance_without", { names })),
  ];
}

/** Create the panel with suggestions for the next trials of a study. @param {StudyPanel} panel */
export function suggestionsPanel(panel) {
  const { app, suggestions } = panel;
  const { t } = app;
  const names = parameterNames(/** @type {Study} */ (panel.study));
  const title = h("h2", { class: "panel-title" }, t("tuning.next"));
  if (!suggestions) return [title, h("p", { class: "muted", role: "status" }, t("tuning.computing"))];
  if (!suggestions.length) return [title, h("p", { class: "muted" }, t("tuning.next_none"))];
  return [
    title,
    h("p", { class: "muted" }, t("tuning.next_what")),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "table" },
        tableHead(names),
        h(
          "tbody",
          null,
          suggestions.map((values) =>
            h(
              "tr",
              null,
              names.map((name) => h("td", null, valueText(app, values[name]))),
            ),
          ),
        ),
      ),
    ),
  ];
}
