// Navigation: links to the pages with data as far as they fit, and a menu of all pages by group.

import { COPY } from "../core/copy.js";
import { menu } from "../components/dialog.js";
import { icon, viewPath } from "../components/icons.js";
import { h, replace } from "../core/dom.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {{name: string, filled: boolean, rare: boolean, linked: boolean, group: string}} Page */

const GROUPS = ["runs", "charts", "media", "model", "answers", "tools"];

/** Pages that belong to no kind of data, with their icons. @type {Record<string, string>} */
const ICONS = {
  runs: "runs",
  overview: "page",
  reports: "report",
  alert: "bell",
  preferences: "settings",
  docs: "code",
  why: "info",
  align: "swap",
};

/** Create the navigation, which follows the page, the runs and the width of the window. @param {App} app */
export function navigation(app) {
  const { t } = app;
  const links = h("div", { class: "nav-links" });
  const name = h("span", { class: "nav-current" });
  /** @type {ReturnType<typeof menu> | null} */
  let box = null;
  const toggle = () => {
    if (box?.isConnected) box.close();
    else box = menu(opener, pageMenu(app), t("nav.all"));
  };
  const opener = h(
    "button",
    {
      type: "button",
      class: "quiet nav-menu",
      "aria-haspopup": "dialog",
      "aria-expanded": "false",
      "aria-label": t("nav.all"),
      title: t("nav.all"),
      onclick: toggle,
    },
    icon("grid"),
    name,
    icon("down"),
  );
  const element = h("nav", { "aria-label": t("nav.label") }, links, opener);

  const draw = () => {
    const shown = pages(app).filter((page) => page.linked && page.filled);
    replace(
      links,
      shown.map((page) => pageLink(app, page)),
    );
    name.textContent = t(`nav.${app.router.current()}`);
    fit(links);
  };
  app.router.on(() => (box?.isConnected && box.close(), draw()));
  app.selection.on(draw);
  app.theme.on(draw); // by what runs are coloured is in every link
  new ResizeObserver(() => fit(links)).observe(element);
  return element;
}

/**
 * Hide the last links that do not fit; that of the current page stays.
 * @param {HTMLElement} links
 */
function fit(links) {
  const all = /** @type {HTMLElement[]} */ ([...links.children]);
  all.forEach((link) => (link.hidden = false));
  for (const link of all.reverse()) {
    if (links.scrollWidth <= links.clientWidth) return;
    link.hidden = !link.hasAttribute("aria-current");
  }
}

/**
 * Return the pages, in order. Rare kinds without data are left out, and in a copy all kinds without data.
 * @param {App} app
 * @returns {Page[]}
 */
function pages(app) {
  const runs = app.selection.all();
  const has = (/** @type {string} */ need) =>
    runs.some(
      (run) =>
        run.kinds[need] ||
        (need === "lineage" && run.lineage) ||
        (need === "pipeline" && run.pipeline) ||
        (need === "dump" && run.dumps.length),
    );
  const kinds = app.boot.views
    .filter(({ group }) => group)
    .map(({ name, needs, rare, navigation: linked, group }) => {
      const filled = name === app.router.current() || !needs.length || needs.some(has);
      return { name, rare, filled, linked, group };
    })
    .filter(({ rare, filled }) => filled || !(rare || COPY));
  const always = { filled: true, rare: false, linked: true };
  return [
    { name: "runs", group: "runs", ...always },
    { name: "overview", group: "runs", ...always, filled: runs.length > 0 },
    ...kinds,
    { name: "docs", group: "tools", ...always, linked: false },
  ];
}

/** Create the link to a page. @param {App} app @param {Page} page */
function pageLink(app, { name, filled }) {
  return h(
    "a",
    {
      href: app.url.link(name),
      class: filled ? null : "nothing",
      title: filled ? null : app.t("nav.nothing"),
      "aria-current": name === app.router.current() ? "page" : null,
    },
    app.t(`nav.${name}`),
  );
}

/** Create the list of all pages by group, each with its icon. @param {App} app */
function pageMenu(app) {
  const all = pages(app);
  const groups = GROUPS.map((group) => {
    const title = app.t(`nav.group.${group}`);
    const links = all
      .filter((page) => page.group === group)
      .map((page) => {
        const link = pageLink(app, page);
        link.prepend(icon(ICONS[page.name] ?? viewPath(app, page.name)));
        return h("li", null, link);
      });
    return h("section", null, h("h3", null, title), h("ul", { "aria-label": title }, links));
  });
  return h("div", { class: "nav-groups" }, groups);
}
