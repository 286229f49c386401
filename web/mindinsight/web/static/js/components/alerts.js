// Text and link of an alert.

import { h } from "../core/dom.js";
import { strayWords } from "./stray_text.js";
import { exactPattern } from "../core/patterns.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/alerts.js").Alert} Alert */

/** Values that JSON has no number for. @type {Record<string, number>} */
const NOT_FINITE = { nan: NaN, inf: Infinity, "-inf": -Infinity };
/** @type {Record<Alert["level"], string>} */
const BADGES = { info: "badge", warning: "badge warn", error: "badge bad" };

/** What happened, in a line. @param {App} app @param {Alert} alert */
export function inWords(app, alert) {
  const { t, format } = app;
  if (!alert.condition) return alert.title;
  if (alert.stray) {
    const what = strayWords(app, alert.stray);
    if (typeof alert.stray.other === "number") return t("alert.found.pair", { tag: alert.tag, what });
    const rank = app.selection.run(alert.run)?.rank ?? alert.run;
    return t("alert.found.strays", { tag: alert.tag, rank, what });
  }
  const value = typeof alert.value === "string" ? NOT_FINITE[alert.value] : alert.value;
  const limit = alert.limit ?? 0;
  return t(`alert.found.${alert.condition}`, {
    tag: alert.tag,
    value: format.number(value),
    limit: format.number(limit),
    n: limit,
  });
}

/** @param {App} app @param {Alert["level"]} level */
export function levelBadge(app, level) {
  return h("span", { class: BADGES[level] }, app.t(`alert.level.${level}`));
}

/**
 * Where it can be seen: the first fault of its dump, the chart of its tag, or all charts of its run, at its
 * step.
 * @param {App} app
 * @param {Alert} alert
 */
export function placeOf(app, alert) {
  if (alert.dump) {
    const { dump, dump_rank: rank, step } = alert;
    const place = { rank: String(rank ?? 0), step: String(step) };
    return app.url.link("dump", { dump, ...place, tab: "check", only: "1" });
  }
  const run = app.selection.run(alert.run);
  if (!run?.kinds.scalar) return app.url.link("overview", { run: alert.run });
  /** @type {Record<string, string>} */
  const more = alert.tag ? { q: exactPattern(alert.tag) } : {};
  return app.selection.linkOnly("scalar", alert.run, { ...more, at: String(alert.step) });
}
