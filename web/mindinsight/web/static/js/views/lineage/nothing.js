// Lineage page without rows: why, and what would fill it.

import { empty, loading } from "../../components/empty.js";
import { unread } from "../../components/nothing.js";

const EXAMPLE = 'SummaryCollector(summary_dir, custom_lineage_data={"dropout": 0.1})';

/**
 * Create the empty state of the lineage page: why it has no rows, and what would fill it.
 * @param {import("../lineage.js").Lineage} view
 */
export function nothing({ app, study }) {
  const { t, selection } = app;
  if (!study.loaded) return loading(t("common.loading"));
  const hasLineage = selection.all().some((run) => run.lineage);
  if (!hasLineage && study.study) return empty({ title: t("lineage.none_of_study") });
  return (
    unread(app, selection.all()) ??
    empty({
      title: t(hasLineage ? "lineage.none_selected" : "lineage.none"),
      text: t(hasLineage ? "lineage.none_selected_how" : "lineage.none_how"),
      code: hasLineage ? undefined : EXAMPLE,
    })
  );
}
