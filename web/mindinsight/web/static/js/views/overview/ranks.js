// Ranks of the run's job: which one this is, and what is wrong with any of them.

import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

const CLAIMS = 2; // the worst; the page of the job has all

/**
 * Request and draw the claims about the ranks of a run's job. The panel is hidden for a run without others.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} panel
 * @param {import("../../core/types.js").Run} run
 */
export async function ranksPanel(app, panel, run) {
  const { selection, t, url } = app;
  const ranks = selection.all().filter(({ job }) => job === run.job);
  panel.hidden = ranks.length < 2 || run.rank === null;
  if (panel.hidden) return undefined;
  return latest(panel).ask(
    (signal) => app.api.get("v2/answers/health", { job: [run.job] }, { signal }),
    ({ jobs: { [run.job]: health } }) =>
      replace(
        panel,
        h("span", { class: "muted" }, t("overview.rank_of", { rank: run.rank ?? "", n: ranks.length })),
        health?.claims
          .slice(0, CLAIMS)
          .map((/** @type {import("../../core/claims.js").Claim} */ claim) => claimElement(app, claim)),
        h(
          "a",
          { class: "command", href: url.link("job", { job: run.job.slice(2) || "." }) },
          t("overview.ranks"),
        ),
      ),
  );
}
