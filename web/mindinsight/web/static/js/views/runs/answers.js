// Links from the runs table to charts and answers about the runs in it.

import { button } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { NEWEST } from "../../core/selection.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

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
  const named = found?.map((run) => run.id);
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
 * Create the links that compare the newest two graphs, and the dumps of exactly two runs.
 * @param {App} app
 * @param {Run[]} runs newest first
 */
function pairLinks({ t, url, selection }, runs) {
  const alone = runs.length === 2;
  const link = (
    /** @type {string} */ view,
    /** @type {string[]} */ ids,
    /** @type {Record<string, string>} */ params,
  ) => (alone ? selection.linkOnly(view, ids, params) : url.link(view, params));
  const [later, earlier] = runs.filter((run) => run.kinds.graph);
  const graphs =
    earlier && link("graph", [earlier.id, later.id], { m: "compare", run: earlier.id, run2: later.id });
  const [second, first] = alone ? runs.filter((run) => run.dumps.length) : [];
  const dumps =
    first &&
    link("dump", [first.id, second.id], { dump: second.dumps[0], with: first.dumps[0], tab: "compare" });
  return [
    graphs
      ? h(
          "a",
          { class: "button", href: graphs, title: `${earlier.name}, ${later.name}` },
          t("runs.compare_graphs"),
        )
      : null,
    dumps ? h("a", { class: "button", href: dumps }, t("runs.compare_dumps")) : null,
  ];
}

/**
 * Create the links that chart the found runs and no other, none, or the newest.
 * @param {App} app
 * @param {() => Run[]} found
 */
export function selectionLinks({ t, selection }, found) {
  const all = () => selection.only(found().map((run) => run.id));
  return h(
    "div",
    { class: "row small" },
    button(t("common.all"), all, { class: "link" }),
    button(t("common.none"), () => selection.only([]), { class: "link" }),
    button(t("runs.newest", { n: NEWEST }), () => selection.reset(), { class: "link" }),
  );
}
