// Table of a study's trials: state, targets, parameters, duration, and the last log lines of failed ones.

import { button } from "../../../components/button.js";
import { dialog } from "../../../components/dialog.js";
import { h } from "../../../core/dom.js";
import { parameterNames, valueText } from "./values.js";

/** @typedef {import("./panel.js").StudyPanel} StudyPanel */
/** @typedef {import("./types.js").Study} Study */
/** @typedef {import("./types.js").Trial} Trial */
/** @typedef {{key: string, label: string, of: (trial: Trial) => unknown, number?: boolean}} TrialColumn */

const MOST = 300; // rows; of larger studies the first ones in the chosen order
/** @type {Record<string, string>} */
const TONES = { failed: "bad", interrupted: "warn", running: "accent", complete: "ok" };

/** Create the table of a study's trials. At most 300 trials are listed. @param {StudyPanel} panel */
export function trialsTable(panel) {
  const { app, sort } = panel;
  const { t } = app;
  const study = /** @type {Study} */ (panel.study);
  const columns = columnsOf(app, study);
  const rows = sorted(study.trials, columns.find(({ key }) => key === sort.key) ?? columns[0], sort.down);
  const heads = columns.map(({ key, label, number }) =>
    h(
      "th",
      {
        scope: "col",
        class: number ? "number" : null,
        "aria-sort": sort.key !== key ? "none" : sort.down ? "descending" : "ascending",
      },
      button(
        label,
        () => {
          panel.sort = { key, down: sort.key === key ? !sort.down : false };
          panel.draw();
        },
        { class: "link", "data-focus": `trials:${key}` },
      ),
    ),
  );
  return h(
    "details",
    {
      open: panel.app.url.get("trials") !== "0",
      ontoggle: (event) => toggled(panel, event),
    },
    h("summary", null, h("h2", { class: "panel-title" }, t("tuning.trials", { n: study.trials.length }))),
    h(
      "div",
      {
        class: "scroll study-trials",
        tabindex: "0",
        role: "group",
        "aria-label": t("tuning.trials", { n: rows.length }),
      },
      h(
        "table",
        { class: "table" },
        h("thead", null, h("tr", null, heads)),
        h(
          "tbody",
          null,
          rows.slice(0, MOST).map((trial) => row(app, study, trial, columns)),
        ),
      ),
    ),
    rows.length > MOST && h("p", { class: "muted" }, t("tuning.trials_more", { n: rows.length - MOST })),
  );
}

/** Remember in the address whether the table is open. @param {StudyPanel} panel @param {Event} event */
function toggled({ app }, event) {
  app.url.set({ trials: /** @type {HTMLDetailsElement} */ (event.target).open ? null : "0" });
}

/**
 * Return the columns of a study.
 * @param {import("../../../core/types.js").App} app
 * @param {Study} study
 * @returns {TrialColumn[]}
 */
function columnsOf({ t }, study) {
  return [
    { key: "number", label: t("tuning.number"), of: ({ number }) => number },
    { key: "state", label: t("tuning.state"), of: ({ state }) => state },
    ...study.targets.map(({ name }, i) => ({
      key: `target:${i}`,
      label: name,
      number: true,
      of: (/** @type {Trial} */ { values }) => values?.[i],
    })),
    ...parameterNames(study).map((name) => ({
      key: `param:${name}`,
      label: name,
      number: true,
      of: (/** @type {Trial} */ { params }) => params[name],
    })),
    { key: "duration", label: t("tuning.duration"), number: true, of: durationOf },
  ];
}

/** Return a trial's duration in seconds, or undefined while it has not ended. @param {Trial} trial */
function durationOf({ begun, ended }) {
  return begun === null || ended === null ? undefined : ended - begun;
}

/**
 * Sort trials by a column. Missing values come last.
 * @param {Trial[]} trials
 * @param {TrialColumn} column
 * @param {boolean} down
 */
export function sorted(trials, column, down) {
  const factor = down ? -1 : 1;
  return [...trials].sort((a, b) => {
    const [left, right] = [column.of(a), column.of(b)];
    const [none, other] = [left === undefined || left === null, right === undefined || right === null];
    if (none || other) return Number(none) - Number(other);
    if (typeof left === "number" && typeof right === "number") return factor * (left - right);
    return factor * String(left).localeCompare(String(right), undefined, { numeric: true });
  });
}

/**
 * Create the row of a trial.
 * @param {import("../../../core/types.js").App} app
 * @param {Study} study
 * @param {Trial} trial
 * @param {TrialColumn[]} columns
 */
function row(app, study, trial, columns) {
  const best = study.targets.length > 1 ? study.front : [study.best.at(-1)?.number];
  return h(
    "tr",
    {
      "data-key": String(trial.number),
      class: `${trial.state}${best.includes(trial.number) ? " best" : ""}`,
    },
    h("th", { scope: "row" }, numberCell(app, trial)),
    h("td", null, stateCell(app, trial)),
    columns
      .slice(2, -1)
      .map((column) =>
        h("td", { class: "number" }, valueText(app, column.of(trial)), stepNote(app, trial, column)),
      ),
    h("td", { class: "number" }, trial.state === "running" ? "…" : seconds(app, trial)),
  );
}

/**
 * Create the step of a pruned trial's target: its run may have recorded later ones. Null for other values.
 * @param {import("../../../core/types.js").App} app
 * @param {Trial} trial
 * @param {TrialColumn} column
 */
function stepNote({ t }, { state, last_step: step }, { key }) {
  if (state !== "pruned" || step === null || !key.startsWith("target:")) return null;
  return h("span", { class: "muted small" }, " ", t("tuning.at_step", { step }));
}

/**
 * Return a trial's number, as a link if it has a run.
 * @param {import("../../../core/types.js").App} app
 * @param {Trial} trial
 */
function numberCell({ url }, { number, run }) {
  return run ? h("a", { href: url.link("overview", { run }) }, number) : number;
}

/**
 * Return a trial's duration as text.
 * @param {import("../../../core/types.js").App} app
 * @param {Trial} trial
 */
function seconds({ format }, trial) {
  const length = durationOf(trial);
  return length === undefined ? "–" : format.duration(length);
}

/**
 * Create the state of a trial, with a link to the log of a failed one.
 * @param {import("../../../core/types.js").App} app
 * @param {Trial} trial
 */
function stateCell(app, trial) {
  const { t } = app;
  const badge = h("span", { class: `badge ${TONES[trial.state] ?? ""}` }, t(`tuning.state.${trial.state}`));
  if (trial.state !== "failed") return badge;
  return [
    badge,
    " ",
    button(failureText(app, trial), () => logDialog(app, trial), { class: "link", "data-focus": "log" }),
  ];
}

/** Return why a trial failed. @param {import("../../../core/types.js").App} app @param {Trial} trial */
export function failureText({ t }, { failure }) {
  const vars = Object.entries(failure ?? {}).filter(([name]) => name !== "reason" && name !== "there");
  return t(`tuning.failure.${failureName(failure)}`, Object.fromEntries(vars));
}

/** Return the name of the reason why a trial failed. @param {Trial["failure"]} failure */
export function failureName(failure) {
  const { reason = "unknown", there } = failure ?? {};
  return reason === "no_target" && !there?.length ? "nothing" : reason;
}

/**
 * Open the dialog with the last log lines of a failed trial.
 * @param {import("../../../core/types.js").App} app
 * @param {Trial} trial
 */
function logDialog(app, trial) {
  const { t } = app;
  const names = trial.failure?.there ?? [];
  dialog({
    title: t("tuning.failed", { number: trial.number }),
    body: [
      h("p", null, failureText(app, trial)),
      names.length > 0 && h("p", { class: "muted" }, t("tuning.there", { names })),
      trial.log.length
        ? h("pre", { class: "study-log", tabindex: "0" }, trial.log.join("\n"))
        : h("p", { class: "muted" }, t("tuning.no_log")),
    ].filter(Boolean),
    close: t("common.close"),
    wide: true,
  });
}
