// Messages above a graph or in its place: nothing to show, errors, counts.

import { empty } from "../../components/empty.js";
import { viewPath } from "../../components/icons.js";
import { COPY } from "../../core/copy.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/answers.js").GraphPicture} GraphPicture */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */

/**
 * Create the empty state for a missing graph. The graph may still come while runs are being read.
 * @param {App} app
 * @param {string} [run] requested
 */
export function noGraph(app, run) {
  const { t } = app;
  const icon = viewPath(app, "graph");
  if (run && !app.selection.run(run)) {
    return empty({ icon, title: t("error.unknown_run", { run }), text: t("graph.none.wait") });
  }
  if (run) {
    return empty({ icon, title: t("graph.none.here", { run }), text: t("graph.none.wait") });
  }
  return empty({
    icon,
    title: t("graph.none"),
    text: t("graph.none.how"),
    code: 'record.add_value("graph", "model", network)',
  });
}

/** Create the empty state for an error. @param {App} app @param {Failure} error */
export function graphError({ t }, error) {
  const text = t(error.key ?? "error.http", error.vars);
  if (error.key === "error.unknown_node") return empty({ icon: "warning", title: text });
  return empty({ icon: "warning", title: t("graph.failed"), text });
}

/**
 * Return the counts of a graph as texts. Tensors of parameters, buffers and inputs are counted apart. In a
 * data pipeline the boxes are its operations with their functions and samplers.
 * @param {App} app
 * @param {Pick<GraphPicture, "operators" | "constants" | "roles"> & {view?: string}} picture
 */
export function counts({ t }, { operators, constants, roles, view }) {
  if (view === "dataset") return [t("graph.count.pipeline", { n: operators })];
  const { weights, buffers, inputs } = roles;
  return Object.entries({ operators, weights, buffers, inputs, constants })
    .filter(([name, n]) => n || name === "operators")
    .map(([name, n]) => t(`graph.count.${name}`, { n }));
}

/**
 * Return the counts of a graph and warnings about what its file did not contain.
 * @param {App} app
 * @param {GraphPicture} picture
 */
export function pictureNotes(app, picture) {
  const { t } = app;
  const lost = /** @type {const} */ (["nameless", "dangling", "unreadable"]).filter((name) => picture[name]);
  return [
    h("span", null, counts(app, picture).join(" · ")),
    COPY !== "" && h("span", null, t("graph.one_scope")),
    lost.map((name) =>
      h(
        "span",
        { class: "badge warn", title: t(`graph.lost.${name}.why`) },
        t(`graph.lost.${name}`, { n: picture[name] }),
      ),
    ),
  ];
}
