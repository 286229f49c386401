// Modal dialogs on the browser's <dialog>, and menus. The focus stays inside, Escape closes, and the focus
// returns.

import { h } from "../core/dom.js";
import { iconButton } from "./button.js";

/** @typedef {import("../core/dom.js").Child} Child */

/**
 * Open a modal dialog. Return the element; closing removes it from the page.
 * @param {{title: string, body: Child, actions?: HTMLElement[], close: string, wide?: boolean,
 *   onclose?: () => void}} options
 */
export function dialog({ title, body, actions = [], close, wide = false, onclose }) {
  const element = h(
    "dialog",
    { class: wide ? "wide" : null, "aria-label": title, onclick: outside },
    h(
      "header",
      null,
      h("h2", { class: "grow" }, title),
      iconButton("close", close, () => element.close()),
    ),
    h("div", { class: "body stack" }, body),
    actions.length ? h("footer", null, actions) : null,
  );
  element.addEventListener("close", () => {
    element.remove();
    onclose?.();
  });
  document.body.append(element);
  element.showModal();
  return element;
}

/** Close the dialog if the click was outside its content. @param {MouseEvent} event */
function outside(event) {
  if (event.target === event.currentTarget) /** @type {HTMLDialogElement} */ (event.currentTarget).close();
}

/**
 * Open a menu below a button. Escape or a click elsewhere closes it. Return the menu's element with a
 * function `close`.
 * @param {HTMLElement} anchor
 * @param {Child} body
 * @param {string} label
 */
export function menu(anchor, body, label) {
  const element = h("div", { class: "menu", role: "dialog", "aria-label": label, tabindex: "-1" }, body);
  const box = anchor.getBoundingClientRect();
  const host = anchor.closest("dialog") ?? document.body; // a modal dialog covers what is outside it
  const origin = host === document.body ? { left: -scrollX, top: -scrollY } : host.getBoundingClientRect();
  host.append(element);
  const left = Math.min(box.left, innerWidth - element.offsetWidth - 8);
  Object.assign(element.style, {
    left: `${Math.max(8, left) - origin.left}px`,
    top: `${box.bottom + 4 - origin.top}px`,
  });
  anchor.setAttribute("aria-expanded", "true");

  const close = () => {
    document.removeEventListener("pointerdown", away, true);
    document.removeEventListener("keydown", onkey, true);
    anchor.setAttribute("aria-expanded", "false");
    element.remove();
  };
  /** @param {Event} event */
  const away = (event) => {
    const inside =
      element.contains(/** @type {Node} */ (event.target)) ||
      anchor.contains(/** @type {Node} */ (event.target));
    if (!inside) close();
  };
  /** @param {KeyboardEvent} event */
  const onkey = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
    anchor.focus();
  };
  document.addEventListener("pointerdown", away, true);
  document.addEventListener("keydown", onkey, true);
  const first = /** @type {HTMLElement | null} */ (element.querySelector("input, button, select, a"));
  (first ?? element).focus();
  return Object.assign(element, { close });
}
