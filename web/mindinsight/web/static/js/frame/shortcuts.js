// Keyboard shortcuts. One table serves the key listener and the dialog that lists them.

import { check } from "../components/field.js";
import { dialog } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { shortcutsOn, switchShortcuts } from "../core/preferences.js";
import { togglePause } from "./connection.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {{keys: string[], text: string, run: () => void}} Shortcut `keys`: pressed one after the other */

const WRITING = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])";
/** @type {Record<string, string>} */
const PAGES = {
  runs: "r",
  overview: "o",
  scalar: "s",
  histogram: "h",
  image: "i",
  tensor: "t",
  graph: "g",
  lineage: "l",
  landscape: "a",
  dump: "d",
  alert: "b",
};

/** What charts do with keys: text, and the keys. */
const CHART_KEYS = [
  ["zoom", "+", "−"],
  ["pan", "Shift", "← →"],
  ["whole", "0"],
  ["values", "← →"],
  ["list", "Enter"],
];

/** Return all shortcuts. @param {App} app @returns {Shortcut[]} */
export function shortcuts(app) {
  const { t } = app;
  const pages = Object.entries(PAGES).filter(([view]) => app.router.knows(view));
  return [
    { keys: ["?"], text: t("keys.title"), run: () => showShortcuts(app) },
    { keys: ["/"], text: t("keys.search"), run: search },
    { keys: ["p"], text: t("keys.pause"), run: () => togglePause(app.live) },
    { keys: ["u"], text: t("connection.now"), run: () => app.live.lookNow() },
    { keys: ["."], text: t("keys.theme"), run: () => app.theme.next() },
    ...pages.map(([view, key]) => ({
      keys: ["g", key],
      text: t("keys.page", { view: t(`nav.${view}`) }),
      run: () => app.router.go(app.url.link(view)),
    })),
  ];
}

/** Listen for shortcuts on the whole document. @param {App} app */
export function listen(app) {
  const table = shortcuts(app);
  let before = "";
  document.addEventListener("keydown", (event) => {
    if (!isShortcut(event) || !shortcutsOn()) return;
    const shortcut =
      table.find(({ keys }) => keys.join() === `${before},${event.key}`) ??
      table.find(({ keys }) => keys.join() === event.key);
    before = shortcut ? "" : event.key;
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run();
  });
}

/**
 * Return whether a key may be a shortcut: not while typing, with a dialog open, or with a modifier key.
 * @param {KeyboardEvent} event
 */
function isShortcut(event) {
  const target = /** @type {Element} */ (event.target);
  return !(
    event.defaultPrevented ||
    event.repeat ||
    event.isComposing ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    target.closest?.(WRITING) ||
    document.querySelector("dialog[open]")
  );
}

/** Focus the view's search box, or that of the side panel. */
function search() {
  const boxes = /** @type {HTMLInputElement[]} */ (
    ["#view", "#side"].flatMap((region) => [...document.querySelectorAll(`${region} input[type=search]`)])
  );
  const box = boxes.find((input) => input.checkVisibility());
  box?.focus();
  box?.select();
}

/** Open the dialog that lists the shortcuts. @param {App} app */
export function showShortcuts(app) {
  const { t } = app;
  const rows = shortcuts(app).map(({ keys, text }) => keyRow(keys, text));
  const onCharts = CHART_KEYS.map(([text, ...keys]) => keyRow(keys, t(`keys.chart.${text}`)));
  const table = keyTable(t("keys.title"), rows);
  dialog({
    title: t("keys.title"),
    body: [
      table,
      h("h3", null, t("keys.chart")),
      keyTable(t("keys.chart"), onCharts),
      check({ label: t("keys.on"), checked: shortcutsOn(), onchange: switchShortcuts }),
    ],
    close: t("common.close"),
  });
}

/** Create the row of a shortcut. @param {string[]} keys @param {string} text */
function keyRow(keys, text) {
  const pressed = keys.map((key) => h("kbd", null, key));
  return h("tr", null, h("th", { scope: "row" }, pressed), h("td", null, text));
}

/** Create a table of shortcuts. @param {string} label @param {HTMLElement[]} rows */
function keyTable(label, rows) {
  return h("table", { class: "shortcuts", "aria-label": label }, h("tbody", null, rows));
}
