// Empty states: an icon, a reason and one action where there is nothing to show or something failed.

import { h } from "../core/dom.js";
import { icon } from "./icons.js";

/**
 * Create an empty state: icon, title, and optionally a text, an example of code and one action.
 * @param {{icon?: string, title: string | HTMLElement, text?: string, code?: string,
 *   action?: HTMLElement}} options
 */
export function empty({ icon: name = "info", title, text, code, action }) {
  return h(
    "div",
    { class: "empty", role: "status" },
    icon(name),
    h("h2", null, title),
    text && h("p", null, text),
    code && h("pre", { tabindex: "0" }, code),
    action,
  );
}

/** Create a placeholder for content that is being loaded. @param {string} label */
export function loading(label) {
  return h("p", { class: "booting", role: "status" }, label);
}
