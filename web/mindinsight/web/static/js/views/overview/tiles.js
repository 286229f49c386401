// Overview tiles: the newest data of each kind.

import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { importView } from "../../core/views.js";
import { icon, viewIcon } from "../../components/icons.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../core/types.js").Tile} Tile */
/** @typedef {import("../../core/types.js").TileKind} TileKind */

/**
 * Import and create the tiles of all views that have one.
 * @param {App} app
 * @param {Run} run
 * @returns {Promise<Tile[]>}
 */
export async function tiles(app, run) {
  const views = app.boot.views.filter((view) => view.tile);
  const modules = await Promise.all(views.map(({ name }) => importView(`${name}/tile`)));
  return modules.flatMap((module) => module.tiles).map((kind) => tile(app, run, kind));
}

/**
 * Create the tile of a kind. It is hidden if the run has no such data.
 * @param {App} app
 * @param {Run} first
 * @param {TileKind} kind
 * @returns {Tile}
 */
function tile(app, first, kind) {
  const box = h("div", { class: "tile-box" });
  const figures = h("p", { class: "figures" });
  const link = h("a", null, app.t(kind.title));
  const relink = () => link.setAttribute("href", app.selection.linkOnly(kind.view, first.id, kind.params));
  relink();
  const count = h("span", { class: "badge" });
  const element = h(
    "section",
    { class: kind.wide ? "card tile wide" : "card tile", "aria-label": app.t(kind.title) },
    h("header", null, kind.icon ? icon(kind.icon) : viewIcon(app, kind.view), h("h2", null, link), count),
    figures,
    box,
  );

  const rare = app.boot.views.some((view) => view.rare && view.name === kind.view);

  element.hidden = !kind.has(first);
  kind.begin?.(box, first);

  const requests = latest(element);
  const refresh = async (/** @type {Run} */ run) => {
    element.hidden = !kind.has(run);
    count.textContent = String(run.kinds[kind.kind] ?? "");
    count.hidden = !run.kinds[kind.kind];
    if (!kind.has(run)) {
      requests.end();
      return;
    }
    await requests.ask(
      (signal) => kind.load(app, run, signal),
      (show) => show(box, figures),
      (error) => {
        replace(
          box,
          h(
            "p",
            { class: "muted" },
            error.key ? app.t(error.key, error.vars) : String(error.message ?? error),
          ),
        );
      },
    );
  };
  const missing = (/** @type {Run} */ run) =>
    rare || kind.has(run) ? null : { title: app.t(kind.title), why: app.t(`overview.no.${kind.kind}`) };
  return { element, refresh, relink, missing };
}
