// Bookmarks of nodes and scopes, stored in the address and shown above the tabs of the side panel.

import { iconButton } from "../../components/button.js";
import { h, renew } from "../../core/dom.js";

const MOST = 50; // of one address

/** @typedef {import("../../core/types.js").App} App */

/** List of the nodes of a graph that the user bookmarked. */
export class Bookmarks {
  /**
   * @param {App} app
   * @param {(path: string) => void} go to a node
   */
  constructor(app, go) {
    this.app = app;
    this.go = go;
    this.element = h("div", { class: "graph-bookmarks" });
    this.draw();
  }

  /** Return the bookmarked paths in the order they were added. */
  get paths() {
    return this.app.url.all("mark");
  }

  /** Add a bookmark, or remove it. Only the newest 50 are kept. @param {string} path */
  toggle(path) {
    const others = this.paths.filter((other) => other !== path);
    const added = others.length === this.paths.length;
    this.app.url.set({ mark: added ? [...others, path].slice(-MOST) : others });
    this.draw();
  }

  /** Draw the list. */
  draw() {
    const { t } = this.app;
    const items = this.paths.map((path) =>
      h(
        "li",
        { class: "row" },
        h(
          "button",
          { type: "button", class: "link", title: path, onclick: () => this.go(path) },
          nameOf(path),
        ),
        iconButton("close", t("graph.bookmark.remove", { path }), () => this.toggle(path)),
      ),
    );
    this.element.hidden = !items.length;
    renew(this.element, h("ul", { class: "row wrap small", "aria-label": t("graph.bookmarks") }, items));
  }

  /** Create the button that bookmarks a node. @param {string} path */
  button(path) {
    const { t } = this.app;
    const button = iconButton(
      "bookmark",
      t("graph.bookmark"),
      () => {
        this.toggle(path);
        button.setAttribute("aria-pressed", String(this.paths.includes(path)));
      },
      { "aria-pressed": this.paths.includes(path) },
    );
    return button;
  }
}

/**
 * Return the last two parts of a path. One part alone is often the same in every layer.
 * @param {string} path
 */
export function nameOf(path) {
  return path.split("/").slice(-2).join("/");
}
