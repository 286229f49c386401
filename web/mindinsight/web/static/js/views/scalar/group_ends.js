// Values with which groups of runs end, and whether the groups differ by more than chance.

import { tableHead } from "../../components/table_head.js";
import { claimElement } from "../../core/claims.js";
import { h } from "../../core/dom.js";

/**
 * @typedef {{groups: {runs: number, mean: number | null, deviation: number | null}[],
 *   claims: import("../../core/claims.js").Claim[]}} GroupEnds
 */

/**
 * Return the request for the ends of groups.
 * @param {string} tag
 * @param {import("./group_card.js").Group[]} groups
 * @param {string} ended what a run that has ended counts as
 * @param {number} criteria of which the one that separates the groups best was chosen
 */
export const endsRequest = (tag, groups, ended, criteria) => ({
  tag,
  ended,
  criteria,
  run: groups.flatMap(({ runs }) => runs),
  group: groups.flatMap(({ runs }, i) => runs.map(() => i)),
});

/**
 * Create the claim on the ends of groups and the table of their means, or null without a group.
 * @param {import("../../core/types.js").App} app
 * @param {GroupEnds | null} ends
 * @param {import("./group_card.js").Group[]} groups
 * @param {(i: number) => string} colour of a group
 */
export function endsTable(app, ends, groups, colour) {
  if (!ends || ends.groups.length !== groups.length) return null;
  const { t, format } = app;
  const heads = ["group", "mean", "deviation", "runs"].map((name) => t(`scalar.groups.ends.${name}`));
  const text = (/** @type {number | null} */ value) => (value === null ? "–" : format.number(value));
  const rows = ends.groups.map(({ runs, mean, deviation }, i) => {
    const swatch = h("i", { class: "swatch", style: { background: colour(i) } });
    const cells = [text(mean), text(deviation), String(runs)];
    return h(
      "tr",
      null,
      h("th", { scope: "row" }, swatch, " ", groups[i].label),
      cells.map((cell) => h("td", { class: "number" }, cell)),
    );
  });
  const title = t("scalar.groups.ends");
  const table = h("table", { class: "table" }, tableHead(heads, [1, 2, 3]), h("tbody", null, rows));
  return h(
    "details",
    { class: "group-ends", open: true },
    h("summary", null, title),
    ends.claims.map((claim) => claimElement(app, claim)),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table),
  );
}
