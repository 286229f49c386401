// Toast: a short message that disappears by itself.

import { button } from "./button.js";
import { h } from "../core/dom.js";

/**
 * Show a message for some seconds, as an error if `bad`, with an optional link or action.
 * @param {string} text
 * @param {{bad?: boolean, seconds?: number, link?: {href: string, label: string}, action?: {label: string,
 *   onclick: () => void}}} [options]
 */
export function toast(text, { bad = false, seconds = 5, link, action } = {}) {
  let box = document.getElementById("toasts");
  if (!box) {
    box = h("div", { id: "toasts", role: "status", "aria-live": "polite" });
    document.body.append(/** @type {HTMLElement} */ (box));
  }
  const line = h(
    "div",
    { class: bad ? "toast bad" : "toast" },
    text,
    link && h("a", { href: link.href }, link.label),
    action && button(action.label, () => (line.remove(), action.onclick()), { class: "link" }),
  );
  box?.append(line);
  window.setTimeout(() => line.remove(), seconds * 1000);
}
