// Alerts in the charts of their runs: what the training code said, in every chart; what a rule found, in its
// tag's. What is not finite has marks of its own.

import { inWords } from "../../components/alerts.js";
import { LIST } from "../../core/alerts.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { reaches } from "./figure.js";

/** @typedef {import("../../core/alerts.js").Alert} Alert */
/** @typedef {{x: number, colour: string, words: string}} Mark x: in Plotly's units */

const READ = 200; // the newest of all runs shown
const MOST = 50; // in one chart: more would hide the curves

/**
 * @param {import("../../core/types.js").App} app
 * @param {Element} place what they are shown in
 * @param {() => void} onchange
 */
export function alertMarks(app, place, onchange) {
  /** @type {Alert[]} */
  let alerts = [];
  const asked = latest(place);
  const take = (/** @type {{alerts: Alert[]}} */ answer) => {
    const next = answer.alerts.filter(
      ({ condition }) => !condition || condition === "above" || condition === "below",
    );
    const same = JSON.stringify(next.map(({ id }) => id)) === JSON.stringify(alerts.map(({ id }) => id));
    alerts = next;
    if (!same) onchange();
  };
  const read = () => {
    const run = app.selection.runs().map(({ id }) => id);
    return asked.ask(
      (signal) =>
        run.length ? app.api.get(LIST, { run, limit: READ }, { signal }) : Promise.resolve({ alerts: [] }),
      take,
      leaveAsIs,
    );
  };
  const off = app.alerts.on((came) => came.length && read());

  return {
    read,
    /**
     * Those that belong into a chart, where it has a place for them.
     * @param {string[]} tags
     * @param {import("./figure.js").Drawn[]} drawn
     * @param {string} axis
     * @returns {Mark[]}
     */
    of(tags, drawn, axis) {
      const where = {
        step: (/** @type {Alert} */ one) => one.step,
        wall: (/** @type {Alert} */ one) => 1000 * Number(one.wall),
      }[axis];
      if (!where) return [];
      return alerts
        .flatMap((one) => {
          const curve = drawn.find(
            (each) => each.curve.run === one.run && reaches(each.curve, axis, where(one)),
          );
          return curve && (!one.tag || tags.includes(one.tag))
            ? [{ x: where(one), colour: curve.colour, words: inWords(app, one) }]
            : [];
        })
        .slice(0, MOST);
    },
    end() {
      off();
      asked.end();
    },
  };
}
