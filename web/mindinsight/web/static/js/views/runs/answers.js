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
