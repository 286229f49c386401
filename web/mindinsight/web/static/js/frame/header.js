// Header: brand, navigation, connection, language and theme.

import { iconButton, namedIconButton, replaceableButton } from "../components/button.js";
import { icon } from "../components/icons.js";
import { chooseLanguage } from "../core/i18n.js";
import { COPY } from "../core/copy.js";
import { baseNames } from "../core/run_list.js";
import { h, replace } from "../core/dom.js";
import { MOST_NAMES } from "../core/offline.js";
import { copyLink, savePage } from "../components/share.js";
import { reportsButton } from "../components/pin_button.js";
import { bell } from "./bell.js";
import { connection, refreshing } from "./connection.js";
import { navigation } from "./navigation.js";
import { savedViews } from "./saved.js";
import { showShortcuts } from "./shortcuts.js";

const MODES = ["compare", "ranks", "groups", "layers"];
const ABOUT_ALL = ["runs", "alert"];
const ICONS = { system: "system", light: "sun", dark: "moon" };

/**
 * Fill the page's header: brand, navigation, connection, language and theme.
 * @param {import("../core/types.js").App} app
 * @param {{ondrawer: () => void}} options
 */
export function header(app, { ondrawer }) {
  const drawer = iconButton("menu", app.t("runs.panel"), ondrawer, { class: "icon quiet drawer-button" });
  const brand = h(
    "a",
    { class: "brand", href: "./" },
    h("img", { src: `${app.boot.assets}/icon.svg`, alt: "" }),
    "MindInsight",
  );
  const element = document.getElementById("top");
  if (element) {
    replace(
      element,
      drawer,
      brand,
      navigation(app),
      h(
        "div",
        { class: "tools" },
        connection(app),
        bell(app),
        !COPY && savedViews(app),
        saving(app, "where-wide"),
        secondaryTools(app),
      ),
    );
  }
}

/**
 * Create the less frequent tools. In a narrow window they are behind a button.
 * @param {import("../core/types.js").App} app
 */
function secondaryTools(app) {
  const id = "tools-rest";
  const more = h(
    "button",
    {
      type: "button",
      class: "icon quiet more-button",
      popovertarget: id,
      "aria-label": app.t("nav.more"),
      title: app.t("nav.more"),
    },
    icon("more"),
  );
  return [
    h(
      "div",
      { id, popover: true, role: "group", "aria-label": app.t("nav.more") },
      !COPY && refreshing(app, "where-narrow"),
      saving(app, "where-narrow"),
      namedIconButton("link", app.t("share.copy"), app.t("share.copy"), () => copyLink(app)),
      reportsButton(app),
      !COPY && docs(app),
      namedIconButton("keyboard", app.t("keys.title"), app.t("tools.keys"), () => showShortcuts(app)),
      languages(app),
      themes(app),
    ),
    more,
  ];
}

/** Create the link to the documentation. @param {import("../core/types.js").App} app */
function docs(app) {
  const name = `${app.t("nav.docs")} · ${app.boot.version}`;
  return h(
    "a",
    { class: "button quiet icon", href: "./docs", "aria-label": name, title: name },
    icon("code"),
    h("span", { class: "name" }, app.t("nav.docs")),
  );
}

/** Return the path in an id of a run, job or dump, "." for the base directory. @param {string} id */
const pathOf = (id) => id.replace(/^\.\/(?=.)/, "").replace(/^\.\/$/, ".");

/**
 * Return the name of what the page is about: a dump with its step, a file, a job, a run, the shown runs or
 * the base directories; "" of others.
 * @param {import("../core/types.js").App} app
 */
function objectOf(app) {
  const { url } = app;
  const stated = document.querySelector("#view [data-object]")?.getAttribute("data-object");
  const named = stated || ["dump", "file", "job", "run"].map((key) => url.get(key)).find(Boolean);
  if (!named) return shownObjects(app);
  const path = named.split(" ./").map(pathOf).join(" ");
  if (url.get("m") === "timeline") return path.replace(/\/[^/]*$/, ""); // of many files, not of one
  const overlay = pathOf(url.get("dump", "")); // colours the graph of a run
  const step = url.get("step");
  if (!overlay || path.includes(overlay)) return path;
  return [path, overlay, step && `${app.t("common.step")} ${step}`].filter(Boolean).join(" ");
}

/**
 * Return the names of the runs that a page of several shows, or of the base directories on a page of all.
 * @param {import("../core/types.js").App} app
 */
function shownObjects({ selection, router, t }) {
  if (ABOUT_ALL.includes(router.current())) return baseNames(selection.list()).join(", ");
  if (document.getElementById("body")?.classList.contains("alone")) return "";
  const folded = selection.folded();
  const ids = selection.entries().map((run) => (folded.has(run.job) ? run.job : run.id));
  return ids.length > MOST_NAMES ? t("share.runs", { n: ids.length }) : ids.map(pathOf).join(", ");
}

/**
 * Return what the page shows of its data: a way of showing scalars, or a study; "" of other pages.
 * @param {import("../core/types.js").App} app
 */
function partOf({ t, url }) {
  const mode = /(scalar|system)$/.test(location.pathname) ? url.get("m", "") : "";
  const study = document.querySelector("#view [data-study]")?.getAttribute("data-study");
  return MODES.includes(mode) ? t(`scalar.mode.${mode}`) : (study ?? "");
}

/**
 * Create the button that saves the page. A narrow window has it behind the button of the less frequent tools.
 * @param {import("../core/types.js").App} app
 * @param {"where-wide" | "where-narrow"} where it is shown
 */
function saving(app, where) {
  const download = () =>
    savePage(
      app,
      /** @type {HTMLElement} */ (document.getElementById("view")),
      [document.title.split(" · ")[0], partOf(app), objectOf(app)].filter(Boolean).join(" "),
    );
  const name = app.t("tools.page");
  return namedIconButton("page", app.t("share.page"), name, download, { class: `icon quiet ${where}` });
}

/** Create the switch between languages. @param {import("../core/types.js").App} app */
function languages(app) {
  const target = app.boot.lang === "zh" ? "en" : "zh";
  const name = target === "zh" ? "中文" : "English";
  return h(
    "button",
    { type: "button", class: "quiet", lang: target, onclick: () => chooseLanguage(target) },
    name,
  );
}

/** Create the switch between themes. @param {import("../core/types.js").App} app */
function themes(app) {
  const { theme, t } = app;
  const holder = replaceableButton();
  const draw = () =>
    holder.show(ICONS[theme.chosen()], t(`theme.${theme.chosen()}`), t("tools.theme"), () => theme.next());
  theme.on(draw);
  draw();
  return holder.element;
}
