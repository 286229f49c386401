// Gaps of a run's recording, and the checkpoints in its folder.

import { claimElement, claimText } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { runFacts } from "../../core/run_facts.js";

/** @typedef {import("../../core/claims.js").Claim} Claim */

/**
 * Request and draw the claims about gaps of the recording of a run, and a link to its checkpoints. The panel
 * is hidden if there are none.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} panel
 * @param {import("../../core/types.js").Run} run
 */
export function recordingPanel(app, panel, run) {
  return latest(panel).ask(
    () => runFacts(run.id),
    ({ recording, checkpoints }) => {
      panel.hidden = !recording.length && !checkpoints.count;
      replace(
        panel,
        recording.map((/** @type {Claim} */ claim) => claimElement(app, claim)),
        checkpoints.count > 0 && checkpointLine(app, checkpoints),
      );
    },
  );
}

/**
 * Create the line about the checkpoints in the folder of a run.
 * @param {import("../../core/types.js").App} app
 * @param {{count: number, first_step: number | null, last_step: number | null, file: string,
 *   claims: Claim[]}} checkpoints
 */
function checkpointLine(app, { count, first_step: first, last_step: last, file, claims }) {
  const { t, format, url } = app;
  const ends = first === null ? [] : [...new Set([first, last])];
  const steps = ends.map((step) => format.number(step, 12)).join(" … ");
  const text = t("overview.checkpoints", { n: count });
  return h(
    "p",
    null,
    h(
      "a",
      { class: "in-text", href: url.link("checkpoint", { file }) },
      steps ? `${text}, ${t("overview.at", { step: steps })}` : text,
    ),
    claims.map((claim) => [
      " · ",
      h(
        "span",
        { class: claim.verdict === "found" ? "strange" : "muted", "data-claim": claim.key },
        claimText(app, claim),
      ),
    ]),
  );
}
