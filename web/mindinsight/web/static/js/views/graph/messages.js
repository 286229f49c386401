// Messages above a graph or in its place: nothing to show, errors, counts.

import { dumpName } from "../../components/dump/header.js";
import { empty } from "../../components/empty.js";
import { viewPath } from "../../components/icons.js";
import { claimText } from "../../core/claims.js";
import { COPY } from "../../core/copy.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/answers.js").GraphPicture} GraphPicture */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */

const LINKS = 8; // of a list, as many as fit on a few lines

/**
 * Create the empty state for a missing graph, with links to runs and dumps that have graphs. The graph may
 * still come while runs are being read.
 * @param {App} app
 * @param {string} [run] requested
 * @param {import("../../core/claims.js").Claim} [claim] about its graphs
 */
export function noGraph(app, run, claim) {
  const { t, selection } = app;
  const icon = viewPath(app, "graph");
  const known = run ? selection.run(run) : undefined;
  const runs = selection.all().filter((other) => other.kinds.graph || other.pipeline);
  const dumps = (known ? [known] : selection.all()).flatMap((other) => other.dumps);
  const action = h(
    "div",
    { class: "stack" },
    links(
      app,
      "graph.none.runs",
      runs.map(({ id, name }) => ["graph", { run: id }, name]),
    ),
    links(
      app,
      "graph.none.dumps",
      dumps.map((dump) => ["dump", { dump, tab: "graph" }, dumpName(dump)]),
    ),
  );
  if (run) {
    const title = !known
      ? t("error.unknown_run", { run })
      : claim
        ? h("span", { "data-claim": claim.key }, claimText(app, claim))
        : t("graph.none.here", { run: known.name });
    return empty({ icon, title, text: t("graph.none.wait"), action });
  }
  if (runs.length) return empty({ icon, title: t("graph.none.shown"), action });
  const code = 'record.add_value("graph", "model", network)';
  return empty({ icon, title: t("graph.none"), text: t("graph.none.how"), code, action });
}

/**
 * Create a line of links, or null without any.
 * @param {App} app
 * @param {string} key of the label
 * @param {[string, Record<string, string>, string][]} targets view, parameters and name of each
 */
function links({ t, url }, key, targets) {
  if (!targets.length) return null;
  const shown = targets
    .slice(0, LINKS)
    .flatMap(([view, params, name], i) => [i ? ", " : " ", h("a", { href: url.link(view, params) }, name)]);
  const rest = targets.length - LINKS;
  return h("p", null, t(key), shown, rest > 0 && ` ${t("graph.none.more", { n: rest })}`);
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
