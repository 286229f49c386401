// List of alerts, updated in place: a row keeps its element while its content is unchanged.

import {
  alertLink,
  alertText,
  dumpsFirst,
  faultLink,
  foldRanks,
  levelBadge,
} from "../../components/alerts.js";
import { button } from "../../components/button.js";
import { lineSample } from "../../components/line.js";
import { claimText } from "../../core/claims.js";
import { h } from "../../core/dom.js";
import { keepFocus } from "../../core/focus.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/alerts.js").Alert} Alert */
/** @typedef {{element: HTMLElement, state: string}} Row */

const TICK_MS = 10_000; // until "5 min ago" is looked at again

/**
 * Create the list of alerts. Alerts later than `lastSeen` are marked as new.
 * @param {App} app
 * @param {number} lastSeen alerts later than this, Unix seconds, are new
 */
export function alertList(app, lastSeen) {
  const element = h("ol", { class: "alerts", "aria-label": app.t("nav.alert") });
  /** @type {Map<string, Row>} */
  let rows = new Map();
  /** Seconds that the server's clock is before ours. */
  let ahead = 0;
  /** Other ranks with the same event, by alert. @type {Map<string, number[]>} */
  let others = new Map();
  const tellTimes = () =>
    element
      .querySelectorAll("time")
      .forEach(
        (/** @type {HTMLElement} */ time) =>
          (time.textContent = app.format.ago(Date.now() / 1000 + ahead - Number(time.dataset.wall), app.t)),
      );
  const timer = window.setInterval(tellTimes, TICK_MS);

  /** @param {Alert} alert @returns {Row} */
  const rowOf = (alert) => {
    const state = JSON.stringify([
      alert,
      app.selection.colour(alert.run),
      app.selection.run(alert.run)?.name,
      app.alerts.muted(alert.run),
      faultLink(app, alert),
      others.get(alert.id),
    ]);
    const before = rows.get(alert.id);
    return before?.state === state
      ? before
      : { element: alertRow(app, alert, Number(alert.wall) > lastSeen, others.get(alert.id) ?? []), state };
  };

  return {
    element,
    /**
     * @param {Alert[]} alerts newest first
     * @param {number} now the server's time, Unix seconds
     * @param {boolean} grouped by run
     */
    show(alerts, now, grouped) {
      ahead = now - Date.now() / 1000;
      const events = foldRanks(app, dumpsFirst(alerts));
      const ordered = events.map(({ alert }) => alert);
      others = new Map(events.map(({ alert, ranks }) => [alert.id, ranks]));
      const entries = grouped
        ? groupRows(app, ordered, rowOf, (key) => rows.get(key))
        : ordered.map((alert) => rowEntry(alert, rowOf));
      rows = new Map(entries);
      keepFocus(element, () => arrange(element, [...rows.values()]));
      element.hidden = !rows.size;
      tellTimes();
    },
    end: () => clearInterval(timer),
  };
}

/**
 * Make the rows the only children of an element. Rows that go are removed first, so that others need not be
 * moved and keep the focus.
 * @param {HTMLElement} element
 * @param {Row[]} rows
 */
function arrange(element, rows) {
  /** @type {Set<Element>} */
  const wanted = new Set(rows.map((row) => row.element));
  [...element.children].filter((child) => !wanted.has(child)).forEach((child) => child.remove());
  rows.forEach((row, position) => {
    const before = element.children[position] ?? null;
    if (before !== row.element) element.insertBefore(row.element, before);
  });
}

/**
 * Return an alert's id and row.
 * @param {Alert} alert
 * @param {(alert: Alert) => Row} rowOf
 * @returns {[string, Row]}
 */
function rowEntry(alert, rowOf) {
  return [alert.id, rowOf(alert)];
}

/**
 * Return the rows grouped by run, the run with the newest alert first. Of a muted run only the heading is
 * shown.
 * @param {App} app
 * @param {Alert[]} alerts newest first
 * @param {(alert: Alert) => Row} rowOf
 * @param {(key: string) => Row | undefined} shown what is listed already
 * @returns {[string, Row][]}
 */
function groupRows(app, alerts, rowOf, shown) {
  return [...alertsByRun(alerts)].flatMap(([run, own]) => {
    const rows = app.alerts.muted(run) ? [] : own.map((alert) => rowEntry(alert, rowOf));
    const key = `group ${run}`;
    const facts = [
      own.length,
      app.alerts.muted(run),
      app.selection.run(run)?.name,
      app.selection.colour(run),
    ];
    const state = JSON.stringify(facts);
    const before = shown(key);
    const head = before?.state === state ? before : { element: groupHead(app, run, own.length), state };
    return [[key, head], ...rows];
  });
}

/** Group alerts by run. @param {Alert[]} alerts newest first @returns {Map<string, Alert[]>} by run */
export function alertsByRun(alerts) {
  /** @type {Map<string, Alert[]>} */
  const runs = new Map();
  for (const alert of alerts) runs.set(alert.run, [...(runs.get(alert.run) ?? []), alert]);
  return runs;
}

/** Create the heading of a run. @param {App} app @param {string} run @param {number} n alerts */
function groupHead(app, run, n) {
  const { t } = app;
  const name = app.selection.run(run)?.name ?? run;
  const muted = app.alerts.muted(run);
  return h(
    "li",
    { class: muted ? "alert-group muted" : "alert-group" },
    lineSample(app, run, true),
    h("h2", { class: "ellipsis", title: name }, name),
    h("span", { class: "badge" }, t("alert.group", { n })),
    button(t(muted ? "alert.unmute" : "alert.mute"), () => app.alerts.mute(run, !muted), {
      class: "link",
      "aria-label": t(muted ? "alert.unmute.run" : "alert.mute.run", { run: name }),
    }),
  );
}

/**
 * Create the row of an alert.
 * @param {App} app
 * @param {Alert} alert
 * @param {boolean} fresh
 * @param {number[]} others ranks with the same event
 */
function alertRow(app, alert, fresh, others) {
  const { t, format, selection } = app;
  const wall = Number(alert.wall);
  const names = [alert.run, ...(alert.other_run ? [alert.other_run] : [])];
  const name = names.map((run) => selection.run(run)?.name ?? run).join(", ");
  const facts = [
    t("alert.step", { step: alert.step }),
    alert.count > 1 && !alert.stray
      ? t(alert.ongoing ? "alert.points.ongoing" : "alert.points", { n: alert.count })
      : null,
    alert.recovery ? claimText(app, alert.recovery) : null,
    others.length ? t("alert.also", { n: others.length, ranks: [...others].sort((a, b) => a - b) }) : null,
  ].filter((fact) => fact !== null);
  const fault = faultLink(app, alert);
  const element = h(
    "li",
    { "data-key": alert.id, class: `alert ${alert.level}${app.alerts.muted(alert.run) ? " muted-run" : ""}` },
    h(
      "div",
      { class: "row wrap" },
      levelBadge(app, alert.level, alert.replaced),
      fresh ? h("span", { class: "badge accent fresh" }, t("alert.new")) : null,
      h(
        "a",
        { class: "what", href: alertLink(app, alert), "data-focus": "what" },
        alertText(app, alert) || t("alert.untitled"),
      ),
      fault && h("a", { class: "small", href: fault, "data-focus": "fault" }, t("alert.find_fault")),
    ),
    alert.text ? h("p", { class: "text" }, alert.text) : null,
    h(
      "div",
      { class: "row wrap small muted" },
      h(
        "span",
        { class: "row run" },
        lineSample(app, alert.run, true),
        h("span", { class: "ellipsis", title: name }, name),
      ),
      facts.map((fact) => h("span", null, fact)),
      h("time", {
        "data-wall": wall,
        title: format.time(wall),
        datetime: Number.isFinite(wall) && wall > 0 ? new Date(wall * 1000).toISOString() : null,
      }),
    ),
  );
  return element;
}
