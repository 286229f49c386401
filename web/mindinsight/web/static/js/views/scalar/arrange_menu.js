// Menus that arrange cards and sections, for what drag and drop does, and for what was hidden.

import { button, iconButton, menuItem } from "../../components/button.js";
import { sizeChoices } from "../../components/card_size.js";
import { dialog, menu } from "../../components/dialog.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { chartTitle } from "./options.js";
import {
  addSection,
  AS_RECORDED,
  dropSection,
  isArranged,
  moveChart,
  removeSection,
  renameSection,
  sectionsOf,
} from "./sections.js";

/** @typedef {import("./card.js").Page} Page */

const NEW = ":new"; // in the list of sections
const LONGEST = 100; // characters of a name, as of saved views

/**
 * Create the entries of a card's menu that move, resize or hide the card; [] if no section has the card.
 * @param {Page} page
 * @param {string} key
 * @param {() => void} close
 */
export function arrangeItems(page, key, close) {
  const { t } = page.app;
  const sections = sectionsOf(page);
  const home = sections.find(({ charts }) => charts.includes(key));
  if (!home) return [];
  const { hidden } = page.options();
  const row = home.charts.filter((chart) => !hidden.includes(chart));
  const at = row.indexOf(key);
  const move = (/** @type {string} */ label, /** @type {number} */ to) => {
    const apply = () => (close(), moveChart(page, key, home.id, row[to] ?? ""));
    return menuItem(t(label), apply, to < 0 || to > row.length);
  };
  const choose = select({
    label: t("scalar.arrange.section"),
    options: [
      ...sections.map(({ id, name }) => ({ value: id, label: name })),
      { value: NEW, label: t("scalar.arrange.new") },
    ],
    value: home.id,
    onchange: (id) => {
      close();
      if (id !== NEW) moveChart(page, key, id, "");
      else askName(page, "", (name) => moveChart(page, key, addSection(page, name), ""));
    },
  });
  const hide = () => (close(), page.change({ hidden: [...hidden, key] }));
  return [
    move("scalar.arrange.earlier", at - 1),
    move("scalar.arrange.later", at + 2),
    choose,
    sizeChoices(page, key),
    menuItem(t("scalar.arrange.hide"), hide),
  ];
}

/**
 * Open the dialog that asks for a section's name.
 * @param {Page} page
 * @param {string} value
 * @param {(name: string) => void} onsave
 */
function askName(page, value, onsave) {
  const { t } = page.app;
  const name = h("input", { type: "text", value, maxlength: LONGEST, required: true, pattern: ".*\\S.*" });
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    box.close();
    onsave(name.value.trim());
  };
  const label = h("span", { class: "label" }, t("scalar.arrange.name"));
  const form = h("form", { id: "section-name", onsubmit }, h("label", { class: "field" }, label, name));
  const save = h("button", { type: "submit", form: "section-name", class: "primary" }, t("common.save"));
  const title = t(value ? "scalar.arrange.rename" : "scalar.arrange.new");
  const box = dialog({ title, body: form, actions: [save], close: t("common.close") });
  name.select();
}

/** Create the button of a section's menu. @param {Page} page @param {string} id */
export function sectionButton(page, id) {
  const { t } = page.app;
  const opener = iconButton("more", t("scalar.arrange.section_menu"), () => {
    const sections = sectionsOf(page);
    const at = sections.findIndex((section) => section.id === id);
    const { name, charts } = sections[at];
    const then = (/** @type {() => void} */ act) => () => (box.close(), act());
    const move = (/** @type {string} */ label, /** @type {number} */ to) => {
      const target = sections[to]?.id;
      return menuItem(
        t(label),
        then(() => dropSection(page, id, target)),
        target === undefined,
      );
    };
    const rename = () => askName(page, name, (next) => renameSection(page, id, next));
    const items = [
      menuItem(t("scalar.arrange.rename"), then(rename)),
      move("scalar.arrange.up", at - 1),
      move("scalar.arrange.down", at + 1),
      charts.length === 0 &&
        menuItem(
          t("scalar.arrange.remove"),
          then(() => removeSection(page, id)),
        ),
    ];
    const box = menu(opener, h("div", { class: "stack" }, items), t("scalar.arrange.section_menu"));
  });
  opener.classList.add("section-more");
  return opener;
}

/** Create the button of the page's arrangement, which names the number of hidden cards. @param {Page} page */
export function arrangeButton(page) {
  const { t } = page.app;
  const count = h("span", { class: "badge" });
  const attrs = { class: "link opens command", "aria-haspopup": "dialog", "aria-expanded": "false" };
  const opener = button(
    [t("scalar.arrange"), count],
    () => {
      const box = menu(
        opener,
        h(
          "div",
          { class: "stack" },
          pageItems(page, () => box.close()),
        ),
        t("scalar.arrange"),
      );
    },
    attrs,
  );
  return {
    element: opener,
    draw() {
      const n = page.options().hidden.length;
      count.hidden = !n;
      replace(count, n ? t("scalar.arrange.hidden", { n }) : null);
    },
  };
}

/** Create the entries of the page's menu. @param {Page} page @param {() => void} close */
function pageItems(page, close) {
  const { t } = page.app;
  const options = page.options();
  const show = (/** @type {string} */ key) => {
    const title = chartTitle(page.app.t, key.split("|"));
    const onclick = () => (close(), page.change({ hidden: options.hidden.filter((other) => other !== key) }));
    return menuItem(t("scalar.arrange.show", { title }), onclick);
  };
  const add = () => (close(), askName(page, "", (name) => addSection(page, name)));
  return [
    menuItem(t("scalar.arrange.new"), add),
    options.hidden.length > 1 &&
      menuItem(t("scalar.arrange.show_all"), () => (close(), page.change({ hidden: [] }))),
    h("div", { class: "stack hidden-cards" }, options.hidden.map(show)),
    menuItem(t("scalar.arrange.reset"), () => (close(), page.change(AS_RECORDED)), !isArranged(options)),
  ];
}
