// Views under a name: save what is on the screen, open, rename and remove what was saved. The server keeps
// them.

import { iconButton, namedIconButton } from "../components/button.js";
import { menu } from "../components/dialog.js";
import { h, replace } from "../core/dom.js";
import { byName } from "../core/run_list.js";
import { latest, leaveAsIs } from "../core/latest.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {{name: string, view: string, query: string}} View */

const PATH = "v2/views";
const LONGEST = 100; // characters of a name

/** Create the button whose menu lists, opens and saves views. @param {App} app */
export function savedViews(app) {
  /** @type {Box | null} */
  let box = null;
  /** Create the button that opens the menu. */
  const opener = namedIconButton(
    "bookmark",
    app.t("views.title"),
    app.t("tools.views"),
    () => {
      const open = box?.element.isConnected;
      if (open) box?.close();
      else box = new Box(app, opener);
    },
    { "aria-haspopup": "dialog" },
  );
  return opener;
}

/** Menu that lists, saves, renames and removes views. */
class Box {
  /** @param {App} app @param {HTMLElement} opener */
  constructor(app, opener) {
    this.app = app;
    /** @type {View[]} */
    this.views = [];
    this.name = nameBox(app, app.t("views.name"));
    this.list = h("ul", { class: "saved-views", "aria-label": app.t("views.title") });
    this.offers = h("div", { class: "stack" });
    this.defaults = h("div", { class: "stack" });
    this.fault = h("p", { class: "fault small", role: "alert" });
    /** @type {HTMLElement} */
    this.element = h(
      "div",
      { class: "stack saved-box" },
      form(this.name, app.t("common.save"), () => this.save()),
      this.fault,
      this.list,
      this.offers,
      this.defaults,
      h("a", { href: app.url.link("preferences"), onclick: () => this.close() }, app.t("nav.preferences")),
    );
    this.requests = latest(this.element);
    this.close = menu(opener, this.element, app.t("views.title")).close;
    this.ask(() => app.api.get(PATH));
    this.offer();
    this.offerDefaults(app.selection.list().defaults);
  }

  /**
   * Offer to make the current settings the page's defaults for everybody.
   * @param {Record<string, string>} defaults query by page
   * @param {string} [done] what was done
   */
  offerDefaults(defaults, done) {
    const { app } = this;
    const view = app.router.current();
    const settings = app.url.settings();
    const send = (/** @type {string} */ query, /** @type {string} */ said) => () =>
      latest(this.defaults).ask(
        () => app.api.send("PUT", "v2/defaults", { view, query }),
        (answer) => this.offerDefaults(answer.defaults, app.t(said)),
        (error) => this.failed(error),
      );
    const reset = () => {
      this.close();
      app.url.forget(view);
      app.router.go(app.url.at(view, ""));
    };
    const item = (/** @type {string} */ key, /** @type {() => void} */ onclick) =>
      h("div", { class: "row" }, h("button", { type: "button", class: "link", onclick }, app.t(key)));
    replace(
      this.defaults,
      settings && settings !== defaults[view] && item("views.default", send(settings, "views.default.kept")),
      defaults[view] && item("views.default.forget", send("", "views.default.forgotten")),
      app.url.arranged(view) && item("views.reset", reset),
      done && h("p", { class: "muted small", role: "status" }, done),
    );
  }

  /** List layouts of charts recorded by runs, which can be saved as views. */
  offer() {
    const { app } = this;
    if (!app.selection.all().some((run) => run.kinds.layout)) return;
    latest(this.offers).ask(
      (signal) => app.api.get("v2/layout/list", {}, { signal }),
      ({ layouts }) => {
        const links = layouts.map(
          (/** @type {{run: string, name: string, tag: string}} */ { run, name, tag }) => {
            const query = new URLSearchParams({ layout: run, tag }).toString();
            const open = { href: app.url.at("layout", query), class: "item", onclick: () => this.close() };
            return h("li", { class: "row" }, h("a", open, h("span", { class: "ellipsis grow" }, name)));
          },
        );
        const title = app.t("layout.offered");
        replace(
          this.offers,
          h("p", { class: "muted small" }, title),
          h("ul", { class: "saved-views", "aria-label": title }, links),
        );
      },
      leaveAsIs,
    );
  }

  /**
   * Send a request whose answer is the list of views, and show it. Return whether it succeeded.
   * @param {(signal: AbortSignal) => Promise<{views: View[]}>} question
   */
  ask(question) {
    replace(this.fault);
    return this.requests.ask(
      question,
      ({ views }) => {
        this.views = views
          .filter((view) => this.app.router.knows(view.view))
          .sort((a, b) => byName(a.name, b.name));
        this.draw();
        return true;
      },
      (error) => this.failed(error),
    );
  }

  /** Show an error. Return false. @param {Failure} error */
  failed(error) {
    const key = error.status === 422 ? "views.too_long" : (error.key ?? "error.http");
    replace(this.fault, this.app.t(key, error.vars));
    return false;
  }

  /** Save the current view under the typed name. */
  async save() {
    const { app } = this;
    const name = this.name.value.trim();
    if (
      await this.ask(() =>
        app.api.send("PUT", PATH, { name, view: app.router.current(), query: location.search.slice(1) }),
      )
    ) {
      this.name.value = "";
    }
  }

  /** Draw the list. */
  draw() {
    const { t } = this.app;
    replace(
      this.list,
      this.views.map((view) => this.row(view)),
    );
    if (!this.views.length) replace(this.list, h("li", { class: "muted small" }, t("views.none")));
  }

  /** Create the row of a saved view. @param {View} view */
  row(view) {
    const { app } = this;
    const { t } = app;
    const link = h(
      "a",
      {
        href: app.url.at(view.view, view.query),
        class: "item",
        title: view.name,
        onclick: () => this.close(),
      },
      h("span", { class: "ellipsis grow" }, view.name),
      h("span", { class: "muted small" }, t(`nav.${view.view}`)),
    );
    const change = iconButton("edit", t("views.rename", { view: view.name }), () => this.rename(row, view));
    const remove = iconButton("close", t("views.remove", { view: view.name }), async () => {
      if (await this.ask(() => app.api.send("DELETE", app.api.build(PATH, { name: view.name })))) {
        this.name.focus();
      }
    });
    const row = h("li", { class: "row" }, link, change, remove);
    return row;
  }

  /** Replace a row by an input for a new name. @param {HTMLElement} row @param {View} view */
  rename(row, view) {
    const { app } = this;
    const box = nameBox(app, app.t("views.new_name", { view: view.name }), view.name);
    const send = async () => {
      const to = box.value.trim();
      if (!(await this.ask(() => app.api.send("PATCH", PATH, { name: view.name, to })))) return;
      /** @type {HTMLElement | undefined} */ (
        [...this.list.querySelectorAll("a")].find((link) => link.title === to)
      )?.focus();
    };
    replace(row, form(box, app.t("common.save"), send));
    box.select();
  }
}

/** Create the input for a name. @param {App} app @param {string} label @param {string} [value] */
function nameBox(app, label, value = "") {
  return h("input", {
    type: "text",
    class: "grow",
    "aria-label": label,
    placeholder: label,
    maxlength: LONGEST,
    required: true,
    pattern: ".*\\S.*",
    value,
    title: app.t("views.name"),
  });
}

/**
 * Create a form of an input and a button.
 * @param {HTMLInputElement} box
 * @param {string} label
 * @param {() => void} send
 */
function form(box, label, send) {
  const onsubmit = (/** @type {Event} */ event) => (event.preventDefault(), send());
  return h("form", { class: "row grow", onsubmit }, box, h("button", { type: "submit" }, label));
}
