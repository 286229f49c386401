// Controls of the Groups mode: criterion, bins, and how runs count after their end.

import { searchBox, select } from "../../components/field.js";
import { GROUP, traitOf } from "../../core/run_traits.js";
import { smoothingControls } from "./controls.js";
import { binsOf, isBinnable } from "./criteria.js";

/** @typedef {import("./card.js").Page} Page */

export const NAME = "name:"; // how the address names a pattern, before the pattern
export const BY_NAME = `${NAME}^[^/]+`;

/**
 * Create the controls that group runs: criterion, name pattern, bins, ended runs and smoothing.
 * @param {Page} page
 * @param {string[]} keys of hyper-parameters that differ
 * @param {string} by as in the address
 * @param {boolean} grouped whether runs have groups that a person gave
 */
export function groupingControls(page, keys, by, grouped) {
  const { t } = page.app;
  const named = by.startsWith(NAME);
  const chooser = select({
    label: t("scalar.groups.by"),
    options: [
      ...(grouped ? [{ value: GROUP, label: t("runs.col.group") }] : []),
      ...keys.map((key) => ({ value: `hyper:${key}`, label: key })),
      { value: NAME, label: t("scalar.groups.name") },
    ],
    value: named ? NAME : by,
    onchange: (value) => page.change({ group: value === NAME ? BY_NAME : value }),
  });
  const pattern = searchBox({
    label: t("scalar.groups.pattern"),
    value: (named ? by : BY_NAME).slice(NAME.length),
    delay: 400,
    onchange: (value) => page.change({ group: `${NAME}${value}` }),
  });
  pattern.hidden = !named;
  return [chooser, pattern, binsControl(page, by), endedControl(page), smoothingControls(page)];
}

/**
 * Create the choice of bins, or null if the values are not many numbers.
 * @param {Page} page
 * @param {string} by
 */
function binsControl(page, by) {
  const { t, selection } = page.app;
  const values = selection.runs().map((run) => traitOf(run, by));
  if (by.startsWith(NAME) || !isBinnable(values)) return null;
  const suited = binsOf(values, "")?.kind;
  const low = Math.min(...values.flatMap((value) => (typeof value === "number" ? [value] : [])));
  return select({
    label: t("scalar.groups.bins"),
    options: /** @type {const} */ (["decades", "quarters", "each"])
      .filter((value) => value !== "decades" || low > 0)
      .map((value) => ({ value, label: t(`scalar.groups.bins.${value}`) })),
    value: page.options().bins || suited || "each",
    onchange: (value) =>
      page.change({ bins: value === suited ? "" : /** @type {"each" | "decades" | "quarters"} */ (value) }),
  });
}

/** Create the choice of how runs count after their end. @param {Page} page */
function endedControl(page) {
  const { t } = page.app;
  return select({
    label: t("scalar.groups.ended"),
    options: /** @type {const} */ (["hold", "drop", "common"]).map((value) => ({
      value,
      label: t(`scalar.groups.ended.${value}`),
    })),
    value: page.options().ended,
    onchange: (value) => page.change({ ended: /** @type {"hold" | "drop" | "common"} */ (value) }),
  });
}
