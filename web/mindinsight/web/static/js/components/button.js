// Buttons: text buttons, icon buttons, and groups of which one button is pressed.

import { h, replace } from "../core/dom.js";
import { keepFocus } from "../core/focus.js";
import { icon } from "./icons.js";

/** @typedef {import("../core/dom.js").Attributes} Attributes */

/**
 * Create a button with a text label that calls `onclick`.
 * @param {import("../core/dom.js").Child} label
 * @param {() => void} onclick
 * @param {Attributes} [attrs]
 */
export function button(label, onclick, attrs = {}) {
  return h("button", { type: "button", onclick, ...attrs }, label);
}

/**
 * Create an icon button. The label is its tooltip and what screen readers announce.
 * @param {string} name
 * @param {string} label
 * @param {(event: MouseEvent) => void} onclick
 * @param {Attributes} [attrs]
 */
export function iconButton(name, label, onclick, attrs = {}) {
  return h(
    "button",
    { type: "button", class: "icon quiet", "aria-label": label, title: label, onclick, ...attrs },
    icon(name),
  );
}

/**
 * Create an icon button that also shows a short name where there is room, as in the header of a wide window.
 * @param {string} name
 * @param {string} label read aloud; the short name is a part of it
 * @param {string} short
 * @param {(event: MouseEvent) => void} onclick
 * @param {Attributes} [attrs]
 */
export function namedIconButton(name, label, short, onclick, attrs = {}) {
  const element = iconButton(name, label, onclick, attrs);
  element.append(h("span", { class: "name" }, short));
  return element;
}

/**
 * Create a group of buttons of which exactly one is pressed. Left and right arrow keys move the focus.
 * `set(value)` presses another one.
 * @param {{label: string, options: {value: string, label: string, icon?: string}[], value: string, onchange:
 *   (value: string) => void}} options
 */
export function segments({ label, options, value, onchange }) {
  /** @type {HTMLButtonElement[]} */
  const buttons = options.map((option) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": option.value === value,
        onclick: () => press(option.value),
        title: option.icon && option.label,
        "aria-label": option.icon && option.label,
      },
      option.icon ? icon(option.icon) : option.label,
    ),
  );

  /** @param {string} next */
  const set = (next) =>
    options.forEach((option, i) => buttons[i].setAttribute("aria-pressed", String(option.value === next)));

  /** @param {string} next */
  const press = (next) => {
    set(next);
    onchange(next);
  };

  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = buttons.findIndex((other) => other === document.activeElement);
    if (step && at >= 0) buttons[(at + step + buttons.length) % buttons.length].focus();
  };
  return Object.assign(
    h("div", { class: "segments", role: "group", "aria-label": label, onkeydown }, buttons),
    { set },
  );
}

/**
 * Create an entry of a menu.
 * @param {string} label
 * @param {() => void} onclick
 * @param {boolean} [disabled]
 */
export function menuItem(label, onclick, disabled = false) {
  return button(label, onclick, { class: "item", disabled });
}

/** Create a placeholder for a button that `show` replaces by another one, keeping the keyboard focus. */
export function replaceableButton() {
  const element = h("span");
  return {
    element,
    /**
     * @param {string} name of the icon
     * @param {string} label
     * @param {string} short
     * @param {() => void} onclick
     */
    show(name, label, short, onclick) {
      if (element.firstElementChild?.getAttribute("aria-label") === label) return;
      const next = namedIconButton(name, label, short, onclick, { "data-focus": "turning" });
      keepFocus(element, () => replace(element, next));
    },
  };
}
