// List of alerts, updated in place: a row keeps its element while its text is the same.

import { inWords, levelBadge, placeOf } from "../../components/alerts.js";
import { lineSample } from "../../components/line.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/alerts.js").Alert} Alert */
/** @typedef {{element: HTMLElement, state: string}} Row */

const TICK_MS = 10_000; // until "5 min ago" is looked at again

/** @param {App} app @param {number} lastSeen alerts later than this, Unix seconds, are new */
export function alertList(app, lastSeen) {
  const element = h("ol", { class: "alerts", "aria-label": app.t("nav.alert") });
  /** @type {Map<string, Row>} */
  let rows = new Map();
  /** Seconds that the server's clock is before ours. */
  let ahead = 0;
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
    ]);
    const before = rows.get(alert.id);
    return before?.state === state
      ? before
      : { element: row(app, alert, Number(alert.wall) > lastSeen), state };
  };

  return {
    element,
    /** @param {Alert[]} alerts newest first @param {number} now the server's time, Unix seconds */
    show(alerts, now) {
      ahead = now - Date.now() / 1000;
      const next = new Map(alerts.map((alert) => [alert.id, rowOf(alert)]));
      [...next.values()].forEach((entry, position) => {
        if (element.children[position] !== entry.element) {
          element.insertBefore(entry.element, element.children[position] ?? null);
        }
      });
      while (element.children.length > next.size) element.lastElementChild.remove();
      rows = next;
      element.hidden = !next.size;
      tellTimes();
    },
    end: () => clearInterval(timer),
  };
}

/** @param {App} app @param {Alert} alert @param {boolean} fresh */
function row(app, alert, fresh) {
  const { t, format, selection } = app;
  const wall = Number(alert.wall);
  const name = selection.run(alert.run)?.name ?? alert.run;
  const facts = [
    t("alert.step", { step: alert.step }),
    alert.count > 1 && !alert.stray
      ? t(alert.ongoing ? "alert.points.ongoing" : "alert.points", { n: alert.count })
      : null,
  ].filter((fact) => fact !== null);
  const element = h(
    "li",
    { class: `alert ${alert.level}` },
    h(
      "div",
      { class: "row wrap" },
      levelBadge(app, alert.level),
      fresh ? h("span", { class: "badge accent fresh" }, t("alert.new")) : null,
      h("a", { class: "what", href: placeOf(app, alert) }, inWords(app, alert) || t("alert.untitled")),
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
