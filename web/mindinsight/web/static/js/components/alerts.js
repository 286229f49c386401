// Text, level badge and link of an alert.

import { claimText } from "../core/claims.js";
import { h } from "../core/dom.js";
import { exactPattern } from "../core/patterns.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/alerts.js").Alert} Alert */

/** @type {Record<Alert["level"], string>} */
const BADGES = { info: "badge", warning: "badge warn", error: "badge bad" };

/** Return an alert's text in one line. @param {App} app @param {Alert} alert */
export function alertText(app, alert) {
  return alert.claim ? claimText(app, alert.claim) : alert.title;
}

/**
 * Return a badge with the alert's level, or with the words that a restart replaced its values.
 * @param {App} app
 * @param {Alert["level"]} level
 * @param {boolean} [replaced]
 */
export function levelBadge(app, level, replaced = false) {
  if (replaced) return h("span", { class: "badge" }, app.t("alert.replaced"));
  return h("span", { class: BADGES[level] }, app.t(`alert.level.${level}`));
}

/**
 * Return the alert to name first: the newest whose values still count, else the newest. Alerts about the end
 * of a run, which its header says, do not count.
 * @param {Alert[]} alerts newest first
 * @returns {Alert | undefined}
 */
export function leading(alerts) {
  const within = alerts.filter(({ condition }) => condition !== "failed");
  return within.find(({ replaced }) => !replaced) ?? within[0];
}

/**
 * Return the address where an alert's cause can be seen: the first fault of its dump, the chart of its tag,
 * all charts of its run, at the alert's step, or the overview of a run that failed.
 * @param {App} app
 * @param {Alert} alert
 */
export function alertLink(app, alert) {
  if (alert.dump) {
    const { dump, dump_rank: rank, step } = alert;
    const place = { rank: String(rank ?? 0), step: String(step) };
    return app.url.link("dump", { dump, ...place, tab: "check", only: "1" });
  }
  const run = app.selection.run(alert.run);
  if (!run?.kinds.scalar || alert.condition === "failed") return app.url.link("overview", { run: alert.run });
  /** @type {Record<string, string>} */
  const more = alert.tag?.startsWith("=")
    ? { mix: alert.tag }
    : alert.tag
      ? { q: exactPattern(alert.tag) }
      : {};
  return app.selection.linkOnly("scalar", alert.run, { ...more, at: String(alert.step) });
}

/**
 * Return the address that searches the dump of an alert's run for the first fault. Null if the alert is not
 * about non-finite values, leads to its dump itself, or its run has no dump.
 * @param {App} app
 * @param {Alert} alert
 */
export function faultLink(app, alert) {
  const dump = app.selection.run(alert.run)?.dumps[0];
  if (alert.dump || alert.condition !== "not_finite" || dump === undefined) return null;
  return app.selection.linkOnly("dump", alert.run, { dump, tab: "check" });
}

/**
 * Move alerts that lead to a dump before adjacent alerts of the same run and step.
 * @param {Alert[]} alerts newest first
 */
export function dumpsFirst(alerts) {
  /** @type {Alert[][]} */
  const groups = [];
  for (const alert of alerts) {
    const [first] = groups.at(-1) ?? [];
    if (first?.run === alert.run && first.step === alert.step) groups.at(-1)?.push(alert);
    else groups.push([alert]);
  }
  return groups.flatMap((group) => group.sort((a, b) => Number(Boolean(b.dump)) - Number(Boolean(a.dump))));
}

/**
 * Fold alerts about one event of a job, such as a loss that jumps, into that of the first rank in the list:
 * those of one step and one rule and scalar, or of one title but for its numbers.
 * @param {App} app
 * @param {Alert[]} alerts
 * @returns {{alert: Alert, ranks: number[]}[]} with the other ranks
 */
export function foldRanks(app, alerts) {
  /** @type {Map<string, {alert: Alert, ranks: number[], all: Set<unknown>}>} */
  const events = new Map();
  for (const alert of alerts) {
    const { job, rank } = app.selection.run(alert.run) ?? {};
    const title = alert.title.replace(/[\d.]+/g, "");
    const of = typeof rank === "number" && !alert.other_run ? ["job", job] : [alert.id];
    const key = JSON.stringify([...of, alert.step, alert.level, alert.rule, alert.tag, title]);
    const known = events.get(key);
    if (!known || known.all.has(rank)) {
      events.set(known ? alert.id : key, { alert, ranks: [], all: new Set([rank]) }); // or of another start
    } else if (typeof rank === "number") {
      known.ranks.push(rank);
      known.all.add(rank);
    }
  }
  return [...events.values()];
}
