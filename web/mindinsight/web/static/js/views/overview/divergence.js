// Divergence of a run: the step at which its loss became NaN or infinite, and where to look next; and the run
// that it continues.

import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { runFacts } from "../../core/run_facts.js";

/**
 * Request and draw the claim, with links to the pages that explain it. The panel is hidden if there is none.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} panel
 * @param {import("../../core/types.js").Run} run
 */
export function divergencePanel(app, panel, run) {
  const { selection, t, url } = app;
  const link = (/** @type {string} */ view, /** @type {string} */ href) => h("a", { href }, t(`nav.${view}`));
  return latest(panel).ask(
    () => runFacts(run.id),
    ({ divergence: [claim], fork }) => {
      panel.hidden = !claim && !fork.length;
      const parent = fork.map((/** @type {import("../../core/claims.js").Claim} */ known) => [
        claimElement(app, known),
        known.evidence.map(({ run: id }) => link("overview", url.link("overview", { run: String(id) }))),
      ]);
      replace(panel, parent);
      if (!claim) return;
      const others = selection.runs().filter((other) => other.job !== run.job && other.kinds.scalar);
      const good = others.map((other) => other.id);
      replace(
        panel,
        parent,
        claimElement(app, claim),
        link("scalar", selection.linkOnly("scalar", run.id)),
        good.length ? link("why", url.link("why", { good, bad: [run.id] })) : null,
        link("alert", selection.linkOnly("alert", run.id, { of: "shown" })),
        run.dumps.length ? link("dump", url.link("dump", { dump: run.dumps[0] })) : null,
      );
    },
  );
}
