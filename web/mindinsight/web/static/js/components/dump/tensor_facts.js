// Statistics of one tensor beside those recorded in the dump.

import { h } from "../../core/dom.js";
import { reasonText } from "./failure.js";
import { number } from "./rows.js";
import { STATISTICS } from "./state.js";

/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../../core/types.js").App} App */

const COUNTS = ["count", "zeros", "negative", "positive", "nans", "positive_infs", "negative_infs"];
/** Our statistics -> names in the dump. @type {Record<string, string>} */
const NAMES = {
  minimum: "min",
  maximum: "max",
  mean: "mean",
  norm: "l2norm",
  zeros: "zero",
  negative: "negative",
  positive: "positive",
  nans: "nan",
  positive_infs: "positive_inf",
  negative_infs: "negative_inf",
};

/**
 * Create the list of a tensor's statistics, or the reason why there are none, which may be that they are
 * still being loaded.
 * @param {App} app
 * @param {Pick<Tensor, "statistics" | "damage" | "said" | "disagrees"> & {computed?: boolean}} tensor
 */
export function tensorFacts(app, tensor) {
  const { t } = app;
  const { statistics } = tensor;
  if (!statistics) {
    return h("p", { class: "muted" }, tensor.damage ? reasonText(app, tensor.damage) : t("common.loading"));
  }
  const recorded = tensor.said ?? {};
  const row = (/** @type {string} */ key) => {
    const value = statistics[key];
    const loud = ["nans", "positive_infs", "negative_infs"].includes(key) && Number(value) > 0;
    return [
      h("dt", null, t(`dump.statistic.${key}`)),
      h(
        "dd",
        { class: loud ? "strange" : null },
        value === null && COUNTS.includes(key) ? t("dump.not_counted") : number(app, value),
        tensor.computed &&
          (tensor.disagrees ?? []).includes(NAMES[key]) &&
          recordedBadge(app, recorded[NAMES[key]]),
      ),
    ];
  };
  return h(
    "dl",
    { class: "facts dump-facts" },
    h("dt", null, t("dump.statistic.count")),
    h("dd", null, number(app, statistics.count)),
    STATISTICS.map(row),
  );
}

/**
 * Create the badge with a recorded value that differs from the computed one.
 * @param {App} app
 * @param {number | string | null} value as the dump recorded it
 */
function recordedBadge(app, value) {
  return h(
    "span",
    { class: "badge warn", title: app.t("dump.disagrees") },
    ` ${app.t("dump.recorded", { value: number(app, value) })}`,
  );
}
