// The line under a chart: how much of the data is drawn, what restarted, what is not finite.

import { h } from "../../core/dom.js";
import { number } from "../../core/format.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./figure.js").Drawn} Drawn */

const SIGNS = { nan: "NaN", inf: "+Inf", "-inf": "−Inf" };

/** @param {App} app @param {Drawn[]} all */
export function footOf(app, all) {
  const points = all.reduce((sum, one) => sum + one.curve.points, 0);
  const visible = all.reduce((sum, one) => sum + one.curve.step.length, 0);
  const restarts = all.filter((one) => one.curve.segments > 1).length;
  return [
    h("span", { class: "grow" }, app.t("scalar.points", { shown: visible.toLocaleString("en"), all: points.toLocaleString("en") })),
    restarts > 0 && h("span", { class: "badge" }, app.t("scalar.restarts", { n: restarts })),
    strange(app, all),
  ];
}

/** What is not finite, said aloud: how many, and where it began. @param {App} app @param {Drawn[]} all */
function strange(app, all) {
  const found = notFinite(all.flatMap((one) => one.curve.non_finite));
  return found && h("span", { class: "badge bad" }, app.t("scalar.non_finite", { kinds: found.kinds.join(", "), n: found.total, step: number(found.first) }));
}

/**
 * @param {[string, number, number, number][]} ranges kind, first step, last step, how many
 * @returns {{total: number, first: number, kinds: string[]} | null} null when all is finite
 */
export function notFinite(ranges) {
  if (!ranges.length) return null;
  return {
    total: ranges.reduce((sum, [, , , count]) => sum + count, 0),
    first: ranges.reduce((least, [, step]) => Math.min(least, step), Infinity),
    kinds: [...new Set(ranges.map(([kind]) => SIGNS[/** @type {keyof SIGNS} */ (kind)] ?? kind))],
  };
}
