// Toast: a short message that disappears by itself.

import { h } from "../core/dom.js";

/** @param {string} text @param {{bad?: boolean, seconds?: number}} [options] */
export function toast(text, { bad = false, seconds = 5 } = {}) {
  let box = document.getElementById("toasts");
  if (!box) {
    box = h("div", { id: "toasts", role: "status", "aria-live": "polite" });
    document.body.append(/** @type {HTMLElement} */ (box));
  }
  const line = h("div", { class: bad ? "toast bad" : "toast" }, text);
  box?.append(line);
  window.setTimeout(() => line.remove(), seconds * 1000);
}
