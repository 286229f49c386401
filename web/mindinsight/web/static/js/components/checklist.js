// A list of check boxes with a filter, "all" and "none".

import { h } from "../core/dom.js";
import { button } from "./button.js";
import { searchBox } from "./field.js";
import { virtualRows } from "./virtual.js";

/**
 * @param {{label: string, filter: string, all: string, none: string, items: {value: string, label: string,
 *   count?: number}[], checked: Set<string>, onchange: (checked: Set<string>) => void}} what
 */
export function checklist({ label, filter, all, none, items, checked, onchange }) {
  let shown = items;
  const body = h("div", { role: "group", "aria-label": label });
  const scroller = h("div", { class: "scroll checklist" }, body);

  /** @param {number} index */
  const row = (index) => {
    const item = shown[index];
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
      h("span", { class: "ellipsis grow" }, item.label),
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

  /** @param {{value: string}[]} some @param {boolean} on */
  const set = (some, on) => {
    for (const { value } of some) on ? checked.add(value) : checked.delete(value);
    rows.update(shown.length);
    onchange(checked);
  };

  const search = searchBox({
    label: filter,
    onchange: (text) => {
      shown = items.filter((item) => item.label.toLowerCase().includes(text.toLowerCase()));
      rows.update(shown.length);
    },
  });
  const both = h(
    "div",
    { class: "row small" },
    button(all, () => set(shown, true), { class: "link" }),
    button(none, () => set(shown, false), { class: "link" }),
  );
  queueMicrotask(() => rows.update(shown.length));
  return h("div", { class: "stack" }, search, both, scroller);
}
