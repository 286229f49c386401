// Labelled form controls: select, check box, text box, search box, and slider with a number box.

import { debounce, h, replace } from "../core/dom.js";
import { commonStart, middleCut } from "../core/names.js";
import { icon } from "./icons.js";

const AT_ONCE = 200; // options that are made before somebody opens the list
const LONGEST = 80; // characters of an option: a box as wide as a tag of thousands bursts the page

/**
 * Create a labelled select. The label's `box` is the select itself.
 * @param {{label: string, options: {value: string, label: string}[], value: string, onchange: (value: string)
 *   => void, inline?: boolean}} options
 */
export function select({ label, options, value, onchange, inline = true }) {
  const start = commonStart(options.map((option) => option.label));
  const short = (/** @type {string} */ text) => (start ? `…${text.slice(start.length)}` : text);
  /** @param {{value: string, label: string}[]} some @param {string} chosen */
  const fill = (some, chosen) => {
    const elements = some.map((option) =>
      h(
        "option",
        { value: option.value, title: start || option.label.length > LONGEST ? option.label : null },
        middleCut(short(option.label), LONGEST),
      ),
    );
    replace(box, elements);
    box.value = chosen;
  };
  /** @type {HTMLSelectElement} */
  const box = h("select", { onchange: () => onchange(box.value) });
  fill(
    options.filter((option, i) => i < AT_ONCE || option.value === value),
    value,
  );
  if (options.length > AT_ONCE) {
    const open = () => box.options.length < options.length && fill(options, box.value);
    ["pointerdown", "focus"].forEach((event) => box.addEventListener(event, open));
  }
  return Object.assign(
    h("label", { class: inline ? "field inline" : "field" }, h("span", { class: "label" }, label), box),
    { box },
  );
}

/**
 * Create a labelled check box. The label's `box` is the check box itself.
 * @param {{label: string, checked: boolean, onchange: (checked: boolean) => void}} options
 */
export function check({ label, checked, onchange }) {
  /** @type {HTMLInputElement} */
  const box = h("input", { type: "checkbox", checked, onchange: () => onchange(box.checked) });
  return Object.assign(h("label", { class: "check" }, box, h("span", null, label)), { box });
}

/**
 * Create a search box. `onchange` is called `delay` ms after the last key.
 * @param {{label: string, value?: string, placeholder?: string, onchange: (value: string) => void, delay?:
 *   number}} options
 */
export function searchBox({ label, value = "", placeholder, onchange, delay = 150 }) {
  const later = debounce(() => onchange(box.value), delay);
  const box = h("input", {
    type: "search",
    "aria-label": label,
    placeholder: placeholder ?? label,
    value,
    oninput: later,
    spellcheck: "false",
  });

  const fault = h("p", { class: "fault small", role: "alert" });

  /** Mark what was typed as not understood. @param {string} why "" when it is fine */
  const invalid = (why) => {
    box.setAttribute("aria-invalid", String(Boolean(why)));
    box.title = fault.textContent = why;
  };
  return Object.assign(h("div", { class: "search" }, icon("search"), box, fault), { box, invalid });
}

/**
 * Create a slider with a number box. With `values` it moves over them (for example the steps of a series),
 * and the number box snaps to the nearest one.
 * @param {{label: string, min?: number, max?: number, step?: number | "any", values?: ArrayLike<number>,
 *   value: number, onchange: (value: number) => void, delay?: number, hideLabel?: boolean}} options
 */
export function slider({
  label,
  min = 0,
  max = 1,
  step = "any",
  values,
  value,
  onchange,
  delay = 0,
  hideLabel = false,
}) {
  let choices = values;
  const later = delay ? debounce(onchange, delay) : onchange;
  /** @type {HTMLInputElement} */
  const range = h("input", {
    type: "range",
    "aria-label": label,
    oninput: () => pick(choices ? choices[Number(range.value)] : Number(range.value)),
  });
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "number",
    "aria-label": label,
    step: choices ? "any" : step,
    onchange: () => box.value !== "" && pick(Number(box.value)),
  });

  /** @param {number} target */
  const pick = (target) => {
    set(target);
    later(Number(box.value));
  };

  /** Move without calling `onchange`. @param {number} target */
  const set = (target) => {
    if (choices) {
      const at = nearest(choices, target);
      range.value = String(at);
      box.value = String(choices[at] ?? "");
    } else {
      const inside = Math.min(Number(range.max), Math.max(Number(range.min), target));
      range.value = String(inside);
      box.value = String(inside);
    }
    range.setAttribute("aria-valuetext", box.value);
  };

  /** Other steps to move over. @param {ArrayLike<number>} next */
  const setValues = (next) => {
    choices = next;
    range.disabled = box.disabled = next.length < 2;
    Object.assign(range, { min: "0", max: String(Math.max(0, next.length - 1)), step: "1" });
  };
  if (values) setValues(values);
  else Object.assign(range, { min: String(min), max: String(max), step: String(step) });
  set(value);
  const text = h("span", { class: hideLabel ? "unseen" : "label" }, label);
  return Object.assign(h("div", { class: "slider" }, text, range, box), { set, setValues, range, box });
}

/**
 * Return the index of the value nearest to `target`.
 * @param {ArrayLike<number>} values
 * @param {number} target
 */
export function nearest(values, target) {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if (Math.abs(values[i] - target) < Math.abs(values[best] - target)) best = i;
  }
  return best;
}
