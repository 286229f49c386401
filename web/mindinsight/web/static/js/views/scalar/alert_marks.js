// Marks of alerts in charts: alerts of training code in every chart of the run, those of a rule in the chart
// of its tag. Non-finite values have marks of their own.

import { alertText } from "../../components/alerts.js";
import { LIST } from "../../core/alerts.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { reaches } from "./curve.js";

/** @typedef {import("../../core/alerts.js").Alert} Alert */
/** @typedef {{x: number, colour: string, words: string}} Mark x: in Plotly's units */

const READ = 200; // the newest of all runs shown
const MOST = 50; // in one chart: more would hide the curves

/**
 * Create the alert marks of a page. `of` returns the marks of one chart; `onchange` is called when any
 * change.
 * @param {import("../../core/types.js").App} app
 * @param {Element} element what they are shown in
 * @param {() => void} onchange
 */
export function alertMarks(app, element, onchange) {
  /** @type {Alert[]} */
  let alerts = [];
  const requests = latest(element);
  const take = (/** @type {{alerts: Alert[]}} */ response) => {
    const next = response.alerts.filter(
      ({ condition }) => !condition || condition === "above" || condition === "below",
    );
    const unchanged = JSON.stringify(next.map(({ id }) => id)) === JSON.stringify(alerts.map(({ id }) => id));
    alerts = next;
    if (!unchanged) onchange();
  };
  const read = () => {
    const run = app.selection.runs().map(({ id }) => id);
    return requests.ask(
      (signal) =>
        run.length ? app.api.get(LIST, { run, limit: READ }, { signal }) : Promise.resolve({ alerts: [] }),
      take,
      leaveAsIs,
    );
  };
  const off = app.alerts.on((fresh) => fresh.length && read());

  return {
    read,
    /**
     * Those that belong into a chart, where it has a place for them.
     * @param {string[]} tags
     * @param {import("./curve.js").Line[]} lines
     * @param {string} axis
     * @returns {Mark[]}
     */
    of(tags, lines, axis) {
      const xOf = {
        step: (/** @type {Alert} */ alert) => alert.step,
        wall: (/** @type {Alert} */ alert) => 1000 * Number(alert.wall),
      }[axis];
      if (!xOf) return [];
      return alerts
        .flatMap((alert) => {
          const job = app.selection.run(alert.run)?.job;
          const line = lines.find(
            ({ curve }) =>
              (curve.run === alert.run ||
                curve.run === alert.other_run ||
                (curve.job && curve.job === job)) &&
              reaches(curve, axis, xOf(alert)),
          );
          return line && (!alert.tag || tags.includes(alert.tag))
            ? [{ x: xOf(alert), colour: line.colour, words: alertText(app, alert) }]
            : [];
        })
        .slice(0, MOST);
    },
    end() {
      off();
      requests.end();
    },
  };
}
