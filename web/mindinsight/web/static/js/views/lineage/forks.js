// Tree of the runs that continue others from a step on.

import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{run: string, parent: string, step: number}} Fork */

/**
 * Create the panel of the runs that continue another one, or return null if there are none.
 * @param {App} app
 * @param {Fork[]} forks
 */
export function forksPanel(app, forks) {
  if (!forks.length) return null;
  const of = (/** @type {string} */ id) => forks.filter(({ parent }) => parent === id);
  const inside = new Set(forks.map(({ run }) => run));
  const roots = [...new Set(forks.map(({ parent }) => parent))].filter((run) => !inside.has(run));
  const name = (/** @type {string} */ id) =>
    h("a", { href: app.url.link("overview", { run: id }) }, app.selection.run(id)?.name ?? id);
  /** @param {string} id @returns {HTMLElement} */
  const list = (id) => h("ul", null, of(id).map(item));
  /** @param {Fork} fork */
  const item = ({ run, step }) =>
    h("li", null, name(run), " ", h("span", { class: "muted" }, app.t("lineage.fork", { step })), list(run));
  return h(
    "section",
    { class: "panel lineage-forks", "aria-label": app.t("lineage.forks") },
    h("h2", { class: "panel-title" }, app.t("lineage.forks")),
    h(
      "ul",
      null,
      roots.map((id) => h("li", null, name(id), list(id))),
    ),
  );
}
