// Buttons: with words, with an icon and a name, or several of which one is pressed.

import { h, replace } from "../core/dom.js";
import { keepFocus } from "../core/focus.js";
import { icon } from "./icons.js";

/** @param {string} label @param {() => void} onclick @param {Record<string, any>} [attrs] */
export function button(label, onclick, attrs = {}) {
  return h("button", { type: "button", onclick, ...attrs }, label);
}

/**
 * An icon whose name is read aloud and shown on hover.
 * @param {string} name
 * @param {string} label
 * @param {(event: MouseEvent) => void} onclick
 * @param {Record<string, any>} [attrs]
 */
export function iconButton(name, label, onclick, attrs = {}) {
  return h(
    "button",
    { type: "button", class: "icon quiet", "aria-label": label, title: label, onclick, ...attrs },
    icon(name),
  );
}

/**
 * An icon button whose short name stands beside the icon where there is room: in the header of a wide window,
 * and in a menu.
 * @param {string} name
 * @param {string} label read aloud; the short name is a part of it
 * @param {string} short
 * @param {(event: MouseEvent) => void} onclick
 * @param {Record<string, any>} [attrs]
 */
export function namedIconButton(name, label, short, onclick, attrs = {}) {
  const element = iconButton(name, label, onclick, attrs);
  element.append(h("span", { class: "name" }, short));
  return element;
}

/**
 * One of several: {value, label}. Left and right arrows move.
 * @param {{label: string, options: {value: string, label: string, icon?: string}[], value: string,
 *   onchange: (value: string) => void}} options
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
    const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
    if (step && at >= 0) buttons[(at + step + buttons.length) % buttons.length].focus();
  };
  return Object.assign(
    h("div", { class: "segments", role: "group", "aria-label": label, onkeydown }, buttons),
    { set },
  );
}

/** A place for one button that turns into another; whoever has the focus on it keeps it. */
export function turning() {
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
