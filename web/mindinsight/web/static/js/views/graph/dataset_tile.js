// Overview tile of the data pipeline: its operations from source to batch.

import { claimText } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { runFacts } from "../../core/run_facts.js";

/** @type {import("../../core/types.js").TileKind} */
export const datasetTile = {
  kind: "dataset",
  icon: "dataset",
  title: "overview.dataset",
  view: "graph",
  params: { view: "dataset" },
  has: (run) => run.pipeline,
  async load(app, run) {
    const { dataset, claims } = await runFacts(run.id);
    return (box, figures) => {
      const texts = claims.map((/** @type {import("../../core/claims.js").Claim} */ claim) =>
        h("span", { "data-claim": claim.key }, claimText(app, claim)),
      );
      replace(figures, texts);
      if (!dataset) return; // gone since the list of runs was read
      replace(
        box,
        h(
          "div",
          {
            class: "pipeline-flow scroll",
            tabindex: "0",
            role: "group",
            "aria-label": app.t("overview.dataset"),
          },
          flow(dataset),
        ),
      );
    };
  },
};

/**
 * @typedef {{op_type?: string, op_module?: string, children?: Operation[], [key: string]: unknown}} Operation
 */

/**
 * Create the boxes of an operation and its inputs in the order of the data. Several sources are grouped.
 * @param {Operation} operation
 * @returns {HTMLElement[]}
 */
function flow(operation) {
  const children = operation.children ?? [];
  const sources =
    children.length > 1
      ? [
          h(
            "span",
            { class: "pipeline-sources" },
            children.map((child) => h("span", { class: "pipeline-flow" }, flow(child))),
          ),
        ]
      : children.flatMap(flow);
  const arrow = sources.length ? [h("span", { class: "muted", "aria-hidden": "true" }, "→")] : [];
  const detail = operation.batch_size ?? operation.num_samples ?? operation.count ?? null;
  const node = h(
    "span",
    { class: "pipeline-node", title: settings(operation) },
    operation.op_type ?? "?",
    detail === null ? null : h("small", null, String(detail)),
  );
  return [...sources, ...arrow, node];
}

/** Return an operation's settings as text, one per line. @param {Operation} operation */
function settings(operation) {
  const lines = Object.entries(operation).filter(
    ([name, value]) => name !== "children" && value !== null && typeof value !== "object",
  );
  return lines.map(([name, value]) => `${name}: ${value}`).join("\n");
}
