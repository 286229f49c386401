// Curves of the two runs in the scalar that diverges first.

import { mainTag } from "../../components/main_tag.js";

/**
 * Draw the curves of the first scalar that diverges, otherwise of the main scalar.
 * @param {import("../../core/types.js").App} app
 * @param {import("../../components/run_curves.js").RunCurves} curves
 * @param {import("../../core/answers.js").AlignedTag[]} rows
 * @param {string[]} ids of the baseline and the run
 */
export function showCurves({ selection, t }, curves, rows, [baseline, run]) {
  const main = rows.length ? mainTag(rows, /loss/i) : "";
  const row = rows.find(({ onset }) => onset !== null) ?? rows.find(({ tag }) => tag === main);
  if (!row) {
    curves.show("", []);
    return;
  }
  const name = (/** @type {string} */ id) => selection.run(id)?.name ?? id;
  const groups = [
    {
      name: t("align.of_baseline", { run: name(baseline) }),
      tag: row.tag,
      runs: [baseline],
      colour: selection.colour(baseline),
    },
    { name: name(run), tag: row.other, runs: [run], colour: selection.colour(run), dash: "dot" },
  ];
  curves.show(t("align.curves", { tag: row.tag }), groups, row.onset);
}
