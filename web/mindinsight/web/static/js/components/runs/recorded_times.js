// Start and duration of a run as texts, or the word for unknown where the recorded time goes back.

import { claimText } from "../../core/claims.js";
import { h } from "../../core/dom.js";
import { durationOf, startOf } from "./values.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

/** Return when a run started, as text. @param {App} app @param {Run} run */
export function startText(app, run) {
  const seconds = startOf(run);
  return seconds === undefined ? unknown(app, run) : app.format.time(seconds);
}

/** Return how long a run took, as text. @param {App} app @param {Run} run */
export function durationText(app, run) {
  const seconds = durationOf(run);
  return seconds === undefined ? unknown(app, run) : app.format.duration(seconds);
}

/** Return the word for an unknown time, with the reason. @param {App} app @param {Run} run */
function unknown(app, run) {
  return h(
    "span",
    { title: run.clock.map((claim) => claimText(app, claim)).join(" ") },
    app.t("common.unknown"),
  );
}
