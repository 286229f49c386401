// Select with a text box that filters its options. Leaving it without a choice changes nothing.

import { h } from "../core/dom.js";

/**
 * Create a text box with suggestions that chooses one of many options. `onchange` is called when another
 * option is chosen.
 * @param {{label: string, id: string, options: {value: string, label: string}[], value: string, onchange:
 *   (value: string) => void}} options `id` of the list of options, unique on the page
 */
export function searchSelect({ label, id, options, value, onchange }) {
  const current = () => options.find((option) => option.value === value)?.label ?? "";
  const list = h(
    "datalist",
    { id },
    options.map((option) => h("option", { value: option.label })),
  );
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "search",
    class: "search-select",
    list: id,
    value: current(),
    title: current(),
    spellcheck: "false",
    onfocus: () => {
      box.placeholder = current();
      box.value = ""; // so that all options are offered
    },
    onblur: () => (box.value = current()),
    oninput: () => choose(),
  });

  const choose = () => {
    const chosen = options.find((option) => option.label === box.value);
    if (!chosen || chosen.value === value) return;
    value = chosen.value;
    box.title = chosen.label;
    onchange(value);
  };
  return Object.assign(
    h("label", { class: "field inline" }, h("span", { class: "label" }, label), box, list),
    {
      box,
    },
  );
}
