// List of check boxes with a filter and buttons for all and none.

import { h } from "../core/dom.js";
import { commonStart } from "../core/names.js";
import { button } from "./button.js";
import { searchBox } from "./field.js";
import { longName } from "./long_name.js";
import { virtualRows } from "./virtual.js";

/**
 * Create a list of check boxes. The filter hides items; the buttons tick or clear all visible ones.
 * @param {{label: string, filter: string, allLabel: string, noneLabel: string, items: {value: string, label:
 *   string, count?: number}[], checked: Set<string>, onchange: (checked: Set<string>) => void}} options
 */
export function checklist({ label, filter, allLabel, noneLabel, items, checked, onchange }) {
  let visible = items;
  const start = commonStart(items.map((item) => item.label));
  const body = h("div", { role: "group", "aria-label": label });
  const scroller = h("div", { class: "scroll checklist" }, body);

  /** @param {number} index */
  const row = (index) => {
    const item = visible[index];
    /** @type {HTMLInputElement} */
    const box = h("input", {
      type: "checkbox",
      checked: checked.has(item.value),
      "data-focus": "box",
      onchange: () => set([item], box.checked),
    });
    const count = item.count === undefined ? null : h("span", { class: "badge" }, item.count);
    return h(
      "label",
      { class: "check", "data-key": item.value, title: item.label },
      box,
      h("span", { class: "side-name grow" }, longName(item.label, { start })),
      count,
    );
  };
  const rows = virtualRows({
    scroller,
    body,
    spacer: () => h("div", { "aria-hidden": "true" }),
    height: 26,
    row,
  });

  /** @param {{value: string}[]} changed @param {boolean} on */
  const set = (changed, on) => {
    for (const { value } of changed) on ? checked.add(value) : checked.delete(value);
    rows.update(visible.length);
    onchange(checked);
  };

  const search = searchBox({
    label: filter,
    onchange: (text) => {
      visible = items.filter((item) => item.label.toLowerCase().includes(text.toLowerCase()));
      rows.update(visible.length);
    },
  });
  const buttons = h(
    "div",
    { class: "row small" },
    button(allLabel, () => set(visible, true), { class: "link" }),
    button(noneLabel, () => set(visible, false), { class: "link" }),
  );
  queueMicrotask(() => rows.update(visible.length));
  return h("div", { class: "stack" }, search, buttons, scroller);
}
