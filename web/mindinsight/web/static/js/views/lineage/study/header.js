// Header of a study: its state, trials, remaining time and best trial.

import { button } from "../../../components/button.js";
import { dialog } from "../../../components/dialog.js";
import { claimElement } from "../../../core/claims.js";
import { h } from "../../../core/dom.js";
import { valueText } from "./values.js";

/** @typedef {import("./panel.js").StudyPanel} StudyPanel */
/** @typedef {import("./types.js").Study} Study */

/** @type {Record<string, string>} */
const TONES = { running: "ok", interrupted: "warn" };
const SORTS = /** @type {const} */ (["complete", "pruned", "failed", "running"]);

/** Create the header of a study: state, trials, remaining time and best trial. @param {StudyPanel} panel */
export function header(panel) {
  const { app } = panel;
  const study = /** @type {Study} */ (panel.study);
  const { t } = app;
  const state = stateOf(study);
  const time = app.format.time(study.updated);
  const sampler = [study.tuner.name, study.tuner.args?.method, study.pruner?.name]
    .filter(Boolean)
    .join(" · ");
  return [
    h(
      "div",
      { class: "toolbar" },
      h("h2", { class: "panel-title study-title" }, t("tuning.title")),
      panel.chooser(),
      h("span", { class: `badge ${TONES[state] ?? ""}` }, t(`tuning.state.${state}`, { time })),
      h("span", { class: "muted" }, sampler),
      h("span", { class: "grow" }),
      study.tuned && study.may_stop && stopButton(panel, study),
    ),
    state === "unknown" && h("p", { class: "muted" }, t("tuning.elsewhere")),
    progressBar(panel, study),
    bestLine(panel, study),
    study.claims.map((claim) => claimElement(app, claim)),
    lastLine(panel, study),
  ];
}

/**
 * Create the last line that the newest failed trial printed; null if none printed anything.
 * @param {StudyPanel} panel
 * @param {Study} study
 */
function lastLine({ app }, { trials }) {
  const trial = trials.findLast(({ state, log }) => state === "failed" && log.some((line) => line.trim()));
  if (!trial) return null;
  const text = trial.log.findLast((line) => line.trim());
  return h("p", null, app.t("tuning.last_line", { number: trial.number }), " ", h("code", null, text));
}

/**
 * Return the state of a study.
 * @param {Study} study
 * @returns {"running" | "stopping" | "finished" | "interrupted" | "idle" | "unknown"}
 */
export function stateOf({ tuned, stopping, progress }) {
  if (tuned) return stopping ? "stopping" : "running";
  if (tuned === null) return "unknown";
  if (progress.running) return "interrupted";
  return progress.wanted !== null && progress.done >= progress.wanted ? "finished" : "idle";
}

/**
 * Create the button that stops the study after confirmation.
 * @param {StudyPanel} panel
 * @param {Study} study
 */
function stopButton(panel, study) {
  const { t } = panel.app;
  const confirm = () => {
    const box = dialog({
      title: t("tuning.stop"),
      body: h("p", null, t("tuning.stop_what", { n: study.progress.running })),
      actions: [button(t("tuning.stop"), () => (box.close(), panel.stop()), { class: "primary" })],
      close: t("common.close"),
    });
  };
  return button(t("tuning.stop"), confirm, { disabled: study.stopping, "data-focus": "stop" });
}

/**
 * Create the progress bar with the number of trials in each state.
 * @param {StudyPanel} panel
 * @param {Study} study
 */
function progressBar({ app }, { progress, tuned }) {
  const { t, format } = app;
  const total = Math.max(progress.wanted ?? 0, progress.done + progress.running, 1);
  const segments = SORTS.filter((sort) => progress[sort]).map((sort) =>
    h("i", { class: sort, style: { width: `${(progress[sort] / total) * 100}%` } }),
  );
  const counts = SORTS.filter((sort) => progress[sort]).map((sort) =>
    h("span", { class: `sort ${sort}` }, t(`tuning.count.${sort}`, { n: progress[sort] })),
  );
  const label = t("tuning.done", { n: progress.done, all: progress.wanted ?? progress.done });
  return [
    h(
      "div",
      {
        class: "study-bar",
        role: "progressbar",
        "aria-label": label,
        "aria-valuemin": 0,
        "aria-valuemax": total,
        "aria-valuenow": progress.done,
      },
      segments,
    ),
    h(
      "p",
      { class: "study-counts" },
      h("b", null, label),
      counts,
      progress.imported > 0 && h("span", null, t("tuning.count.imported", { n: progress.imported })),
      progress.interrupted > 0 && h("span", null, t("tuning.count.interrupted", { n: progress.interrupted })),
      tuned &&
        progress.left !== null &&
        progress.left > 0 &&
        h("span", { class: "left" }, t("tuning.left", { time: format.duration(progress.left) })),
    ),
  ];
}

/**
 * Create the line about the best trial, or about the Pareto front; null if no trial is complete.
 * @param {StudyPanel} panel
 * @param {Study} study
 */
function bestLine({ app }, study) {
  const { t } = app;
  if (study.targets.length > 1) {
    return (
      study.front.length > 0 &&
      h("p", { class: "study-best" }, t("tuning.front_of", { n: study.front.length }))
    );
  }
  const last = study.best.at(-1);
  if (!last) return null;
  const trial = study.trials.find(({ number }) => number === last.number);
  const name = t("tuning.trial", { number: last.number });
  return h(
    "p",
    { class: "study-best" },
    h(
      "span",
      { class: "muted" },
      t(`tuning.best.${study.targets[0].goal}`, { target: study.targets[0].name }),
    ),
    " ",
    h("b", null, app.format.number(last.value, 5)),
    " ",
    trial?.run ? h("a", { href: app.url.link("overview", { run: trial.run }) }, name) : name,
    h(
      "span",
      { class: "study-params" },
      Object.entries(trial?.params ?? {}).map(([key, value]) =>
        h("span", { class: "study-param" }, h("span", { class: "muted" }, key), " ", valueText(app, value)),
      ),
    ),
  );
}
