// Links from the runs table to charts and answers about the runs in it.

import { button } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { NEWEST } from "../../core/selection.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

const NAMED = 60; // runs that an address names

/**
 * Create the links for the search results, or for the charted runs without a search.
 * @param {App} app
 * @param {Run[] | null} found by the search; null without one
 */
export function answerLinks(app, found) {
  const { t, url, selection } = app;
  const chart = () => {
    selection.only((found ?? []).map((run) => run.id));
    app.router.go(url.link("scalar"));
  };
  const entries = (found ?? selection.entries()).filter((run) => run.kinds.scalar);
  const named = found && found.length <= NAMED ? found.map((run) => run.id) : null;
  const link = (/** @type {string} */ view) =>
    h(
      "a",
      {
        class: "button",
        href: named ? selection.linkOnly(view, named) : url.link(view),
        title: t(`runs.${view}.how`),
      },
      t(`nav.${view}`),
    );
  return [
    found?.length ? button(t("runs.chart", { n: found.length }), chart, { class: "primary" }) : null,
    entries.length > 1 ? link("why") : null,
    entries.length > 1 ? link("align") : null,
    ...pairLinks(app, found ?? selection.entries()),
  ];
}

/**
 * Create the links that compare graphs and dumps, if there are exactly two runs and both have some.
 * @param {App} app
 * @param {Run[]} runs
 */
function pairLinks({ t, selection }, runs) {
  if (runs.length !== 2) return [];
  const [later, earlier] = runs; // newest first
  const ids = [earlier.id, later.id];
  const graphs = selection.linkOnly("graph", ids, { m: "compare", run: earlier.id, run2: later.id });
  const dumps = { dump: later.dumps[0], with: earlier.dumps[0], tab: "compare" };
  return [
    runs.every((run) => run.kinds.graph)
      ? h("a", { class: "button", href: graphs }, t("runs.compare_graphs"))
      : null,
    runs.every((run) => run.dumps.length)
      ? h("a", { class: "button", href: selection.linkOnly("dump", ids, dumps) }, t("runs.compare_dumps"))
      : null,
  ];
}

/**
 * Create the links that chart all found runs, none, or the newest.
 * @param {App} app
 * @param {() => Run[]} found
 */
export function selectionLinks({ t, selection }, found) {
  const all = () =>
    selection.toggleMany(
      found().map((run) => run.id),
      true,
    );
  return h(
    "div",
    { class: "row small" },
    button(t("common.all"), all, { class: "link" }),
    button(t("common.none"), () => selection.only([]), { class: "link" }),
    button(t("runs.newest", { n: NEWEST }), () => selection.reset(), { class: "link" }),
  );
}
