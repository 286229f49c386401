// Client-side router: changes views without a page load, so that Plotly is parsed only once.

import { together } from "../core/changes.js";
import { h, replace, tell } from "../core/dom.js";
import { latest } from "../core/latest.js";
import { viewAt } from "../core/url.js";
import { importView } from "../core/views.js";
import { empty } from "../components/empty.js";
import { unreachablePage } from "../components/unreachable.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/types.js").Change} Change */

/** Router that shows the view named by the address. */
export class Router {
  #url;
  #names;
  #current;
  /** @type {App} */
  // @ts-expect-error given by start(), before anything else is called
  #app;
  /** @type {import("../core/types.js").View | null} */
  #view = null;
  /** What came while a view was still being mounted. @type {Change | null} */
  #missed = null;
  #mounting = latest();
  /** @type {Set<(view: string) => void>} */
  #callbacks = new Set();

  /**
   * @param {import("../core/types.js").Boot} boot
   * @param {import("../core/url.js").Url} url
   */
  constructor(boot, url) {
    this.#url = url;
    this.#current = boot.view;
    this.#names = ["runs", "overview", "docs", ...boot.views.map((view) => view.name)];
  }

  /** Show the first view, then follow links and the browser's history. @param {App} app */
  start(app) {
    this.#app = app;
    document.addEventListener("click", (event) => this.#onClick(event));
    window.addEventListener("popstate", () => this.#onBack());
    app.live.on((change) => this.#onChange(change));
    return this.#show();
  }

  /** Return the name of the current view. */
  current() {
    return this.#current;
  }

  /** Return whether a view exists. @param {string} name */
  knows(name) {
    return this.#names.includes(name);
  }

  /**
   * Subscribe to changes of the view. The callback runs before the view is shown.
   * @param {(view: string) => void} callback
   */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Navigate to an address. @param {string} href */
  go(href) {
    const name = this.#viewOf(href);
    if (!name) {
      location.assign(href);
      return;
    }
    this.#url.leave(this.#current);
    history.pushState(null, "", href);
    this.#current = name;
    this.#app.selection.reread();
    this.#show();
    window.scrollTo(0, 0);
  }

  /** Show the view of the current address. */
  async #show() {
    this.#leave();
    this.#url.fill(this.#current, this.#app.selection.list().defaults[this.#current]);
    this.#app.selection.nameRanks();
    tell(this.#callbacks, this.#current);
    document.title = `${this.#title()} · MindInsight`;
    await this.#mounting.ask(
      (signal) => this.#mount(signal),
      () => {},
      (error) => {
        replace(root(), this.#failed(error));
        root().setAttribute("aria-busy", "false");
        console.error(error);
      },
    );
  }

  /**
   * Import and mount the view; an abort drops it.
   * @param {AbortSignal} signal aborted when somebody goes on to another view
   */
  async #mount(signal) {
    const module = /** @type {import("../core/types.js").ViewModule} */ (await importView(this.#current));
    if (signal.aborted) return;
    document.getElementById("body")?.classList.toggle("alone", module.alone === true);
    const element = h("div", { class: `view-${this.#current}` });
    replace(root(), element);
    root().setAttribute("aria-busy", "true");
    this.#missed = null;
    const mounted = await module.mount(element, this.#app);
    if (signal.aborted) {
      mounted.unmount();
      return;
    }
    if (!element.querySelector("h1")) root().prepend(h("h1", { class: "unseen" }, this.#title()));
    root().setAttribute("aria-busy", "false");
    this.#view = mounted;
    if (this.#missed) mounted.update?.(this.#missed);
  }

  /** Unmount the current view. */
  #leave() {
    this.#view?.unmount();
    this.#view = null;
    this.#app.charts.removeAll(root());
  }

  /** Return the title of the current view. */
  #title() {
    return this.#app.t(`nav.${this.#current}`);
  }

  /** Return the empty state for an error. @param {Failure} error */
  #failed(error) {
    const { live, t } = this.#app;
    if (live.state() === "lost" || error.status === 0) return unreachablePage(this.#app, error);
    return empty({
      icon: "warning",
      title: t("error.view"),
      text: error.key ? t(error.key, error.vars) : String(error.message ?? error),
    });
  }

  /** Pass a change of data on to the view. @param {Change} change */
  #onChange(change) {
    if (this.#view) this.#view.update?.(change);
    else this.#missed = together(this.#missed, change);
  }

  /**
   * Return the view of an address, or null if it is not a page of this application.
   * @param {string} href
   * @returns {string | null}
   */
  #viewOf(href) {
    const target = new URL(href, location.href);
    const folder = location.pathname.replace(/[^/]*$/, "");
    if (target.origin !== location.origin || !target.pathname.startsWith(folder)) return null;
    const name = viewAt(target.pathname.slice(folder.length));
    return this.knows(name) ? name : null;
  }

  /** Navigate without a page load if a link to a view is clicked. @param {MouseEvent} event */
  #onClick(event) {
    const link = /** @type {HTMLAnchorElement | null} */ (
      /** @type {Element} */ (event.target).closest?.("a[href]")
    );
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    if (
      link.target ||
      link.hasAttribute("download") ||
      link.getAttribute("href")?.startsWith("#") ||
      !this.#viewOf(link.href)
    ) {
      return;
    }
    event.preventDefault();
    this.go(link.href);
  }

  /** Show the view after the browser went back or forward. */
  #onBack() {
    const name = this.#viewOf(location.href) ?? "runs";
    this.#app.selection.reread();
    if (name === this.#current) {
      this.#url.changed();
    } else {
      this.#current = name;
      this.#show();
    }
  }
}

/** Return the element that views are mounted in. */
function root() {
  return /** @type {HTMLElement} */ (document.getElementById("view"));
}
