// Reason for a hit: the measured value and the limit it exceeds.

import { infinities, number } from "../../components/dump/rows.js";

/** @typedef {import("../../core/answers.js").Statistics} Statistics */
/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Hit of v2/dump/check
 * @property {string} condition
 * @property {Record<string, number>} limits
 * @property {{name: string, hit: boolean, actual: number | null}[]} findings
 * @property {{statistics: Statistics | null}} tensor
 */

/**
 * Return why a condition reports a tensor: the measured value and the limit it exceeds.
 * @param {App} app
 * @param {Hit} hit
 */
export function reasonText(app, hit) {
  const { t } = app;
  const reasons = hit.findings
    .filter((finding) => finding.hit)
    .map(({ name, actual }) =>
      t(`dump.reason.${name}`, { value: number(app, actual), limit: number(app, hit.limits[name]) }),
    );
  if (reasons.length) return reasons.join("; ");
  const { rtol, atol } = hit.limits;
  if (rtol === undefined) return overflowText(app, hit);
  return t(`dump.reason.${unchangedWord(hit.limits)}`, {
    limit: number(app, rtol),
    tolerance: number(app, atol),
  });
}

/**
 * Return the key of the word for a tensor that did not change, within one tolerance or two.
 * @param {Record<string, number>} limits
 */
export function unchangedWord({ atol }) {
  return atol > 0 ? "tolerances" : "rtol";
}

/**
 * Return the name of a condition. One of another distribution has its id, with a dot in it.
 * @param {import("../../core/types.js").Translate} t
 * @param {string} id
 */
export function conditionName(t, id) {
  return id.includes(".") ? id : t(`dump.condition.${id}`);
}

/** Return the reason of a rule without limits. @param {App} app @param {Hit} hit */
function overflowText({ t }, { condition, tensor: { statistics } }) {
  if (condition === "operator_overflow") return t("dump.reason.device");
  if (!condition.endsWith("_overflow")) return conditionName(t, condition);
  const infs = infinities(statistics);
  if (!statistics || infs === null || statistics.nans === null) return t("dump.lost_not_counted");
  return t("dump.fault.counts", { nans: statistics.nans, infs, count: statistics.count ?? "?" });
}
