// Divergence of a run: the step at which its loss became NaN or infinite, or else its newest alert of an
// error, and where to look next; and the run that it continues.

import { alertLink, alertText, leading, levelBadge } from "../../components/alerts.js";
import { LIST } from "../../core/alerts.js";
import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { runFacts } from "../../core/run_facts.js";

/** @typedef {import("../../core/alerts.js").Alert} Alert */

const MOST = 20; // errors among which one is searched that no restart replaced

/**
 * Request and draw the claim about the first divergence of a run, with links to the pages that explain it.
 * The panel is hidden if there is none.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} panel
 * @param {import("../../core/types.js").Run} run
 */
export function divergencePanel(app, panel, run) {
  const { selection, t, url } = app;
  const link = (/** @type {string} */ view, /** @type {string} */ href) =>
    h("a", { class: "command", href }, t(`nav.${view}`));
  return latest(panel).ask(
    () => Promise.all([runFacts(run.id), app.api.get(LIST, { run: run.id, level: "error", limit: MOST })]),
    ([
      {
        divergence: [claim],
        fork,
      },
      { alerts: errors, total },
    ]) => {
      const alert = leading(errors);
      panel.hidden = !claim && !fork.length && !alert;
      const parent = fork.map((/** @type {import("../../core/claims.js").Claim} */ known) => [
        claimElement(app, known),
        known.evidence.map(({ run: id }) => link("overview", url.link("overview", { run: String(id) }))),
      ]);
      const alerts = link("alert", selection.linkOnly("alert", run.id, { of: "shown" }));
      replace(panel, parent, alert && !claim ? alertLine(app, alert, total > 1 ? alerts : null) : null);
      if (!claim) return;
      const others = selection.runs().filter((other) => other.job !== run.job && other.kinds.scalar);
      const good = others.map((other) => other.id);
      replace(
        panel,
        parent,
        claimElement(app, claim),
        link("scalar", selection.linkOnly("scalar", run.id)),
        good.length ? link("why", url.link("why", { good, bad: [run.id] })) : null,
        alerts,
        run.dumps.length ? link("dump", url.link("dump", { dump: run.dumps[0] })) : null,
      );
    },
  );
}

/**
 * Create the line about an alert, with a link to its cause.
 * @param {import("../../core/types.js").App} app
 * @param {Alert} alert
 * @param {HTMLElement | null} more
 */
function alertLine(app, alert, more) {
  const title = alertText(app, alert) || app.t("alert.untitled");
  return [
    levelBadge(app, alert.level, alert.replaced),
    h("a", { href: alertLink(app, alert), title: alert.text }, title),
    h("span", { class: "muted" }, `${app.t("common.step")} ${alert.step}`),
    more,
  ];
}
