// Buttons that add a card or the page to a report, frozen or live.

import { PATH, pinOf } from "../core/pins.js";
import { needsServer } from "../core/copy.js";
import { h, replace } from "../core/dom.js";
import { latest } from "../core/latest.js";
import { button, iconButton, namedIconButton, segments } from "./button.js";
import { menu } from "./dialog.js";
import { toast } from "./toast.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {{id: string, title: string, changed: number}} Entry */

const MOST = 8; // reports that are offered, the newest first

/** Create the button of a card that adds it to a report. @param {App} app @param {() => Element} card */
export function pinButton(app, card) {
  const opener = iconButton(
    "report",
    app.t("reports.pin"),
    () => openMenu(app, opener, card()),
    needsServer(app),
  );
  return opener;
}

/**
 * Create the header's button that adds the current page to a report, and on a report leads to the list.
 * @param {App} app
 */
export function reportsButton(app) {
  const opener = namedIconButton(
    "report",
    app.t("nav.reports"),
    app.t("nav.reports"),
    () => {
      if (app.router.current() === "reports") app.router.go(app.url.at("reports", ""));
      else openMenu(app, opener, null);
    },
    { "aria-haspopup": "dialog" },
  );
  return opener;
}

/**
 * Open the menu that chooses a report for a card, or for the page if `card` is null.
 * @param {App} app
 * @param {HTMLElement} opener
 * @param {Element | null} card null for the page
 */
export function openMenu(app, opener, card) {
  const { t } = app;
  let frozen = false;
  const list = h("div", { class: "stack" });
  const fault = h("p", { class: "fault small", role: "alert" });
  const name = h("input", {
    type: "text",
    class: "grow",
    "aria-label": t("reports.new_name"),
    placeholder: t("reports.new_name"),
    maxlength: 200,
  });
  const kinds = kindChoice(app, (value) => (frozen = value));
  /** @param {() => Promise<{id: string, title: string}>} report */
  const add = async (report) => {
    replace(fault);
    try {
      const { id, title } = await report();
      await app.api.send("POST", `${PATH}/${id}/blocks`, { pin: await pinOf(app, card, frozen) });
      box.close();
      const href = app.url.at("reports", `report=${id}`);
      toast(t("reports.pinned", { title }), { link: { href, label: t("reports.open") } });
    } catch (thrown) {
      const error = /** @type {Failure} */ (thrown);
      replace(fault, t(faultKey(error), error.vars));
    }
  };
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const title = name.value.trim() || t("reports.untitled");
    add(() => app.api.send("POST", PATH, { title }));
  };
  const form = h("form", { class: "row", onsubmit }, name, h("button", { type: "submit" }, t("reports.new")));
  const all = h(
    "a",
    { class: "item", href: app.url.at("reports", ""), onclick: () => box.close() },
    t("reports.all"),
  );
  const title = t(card ? "reports.pin" : "reports.pin_page");
  const body = h(
    "div",
    { class: "stack pin-box" },
    card ? null : all,
    h("p", { class: "panel-title" }, title),
    kinds,
    list,
    form,
    fault,
  );
  const box = menu(opener, body, title);
  latest(list).ask(
    (signal) => app.api.get(PATH, {}, { signal }),
    ({ reports }) => {
      const newest = [...reports].sort((a, b) => b.changed - a.changed).slice(0, MOST);
      const entry = (/** @type {Entry} */ report) =>
        button(report.title, () => add(async () => report), { class: "item ellipsis" });
      replace(list, newest.map(entry));
    },
    (error) => replace(fault, t(error.key ?? "error.http", error.vars)),
  );
}

/**
 * Create the choice between live and frozen with an explanation.
 * @param {App} app
 * @param {(frozen: boolean) => void} onchange
 */
function kindChoice({ t }, onchange) {
  const why = h("p", { class: "muted small" }, t("reports.kind.live.why"));
  const choice = segments({
    label: t("reports.kind"),
    options: ["live", "frozen"].map((value) => ({ value, label: t(`reports.kind.${value}`) })),
    value: "live",
    onchange: (value) => {
      onchange(value === "frozen");
      replace(why, t(`reports.kind.${value}.why`));
    },
  });
  return [choice, why];
}

/** Return the text key of an error. @param {Failure} error */
function faultKey(error) {
  if (error.status === 413) return "reports.too_large";
  return error.status === 422 ? "views.too_long" : (error.key ?? "error.http");
}
