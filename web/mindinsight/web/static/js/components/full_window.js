// Dialog in which a card fills the window. Escape and the close button put the card back.

import { h } from "../core/dom.js";

/**
 * @typedef {Object} Full
 * @property {() => import("../core/dom.js").Child} [controls] what stands above the card while it fills the
 *   window
 * @property {(full: boolean) => void} [onchange]
 */

/**
 * Return functions that open and close a dialog in which the card fills the window, and one that subscribes
 * to both.
 * @param {HTMLElement} card
 * @param {string} title
 * @param {Full} full
 */
export function fullWindow(card, title, full) {
  const place = h("div", { "aria-hidden": "true" }); // holds the room of the card in its page
  /** @type {HTMLDialogElement | null} */
  let dialog = null;
  /** @type {HTMLElement | null} */
  let controls = null;
  /** @type {(on: boolean) => void} */
  let changed = () => {};

  // The page behind may be built anew: then the card is none of its own any more.
  const watcher = new MutationObserver(() => place.isConnected || dialog?.close());

  const closed = () => {
    watcher.disconnect();
    controls?.remove();
    if (place.isConnected) place.replaceWith(card);
    dialog?.remove();
    dialog = null;
    changed(false);
    card.querySelector("button")?.closest(".card")?.scrollIntoView({ block: "nearest" });
  };
  return {
    open() {
      if (dialog) return;
      place.style.height = `${card.offsetHeight}px`;
      card.replaceWith(place);
      controls = full.controls ? h("div", { class: "toolbar full-controls" }, full.controls()) : null;
      if (controls) card.querySelector("header")?.after(controls);
      dialog = h("dialog", { class: "full-card", "aria-label": title, onclose: closed }, card);
      document.body.append(/** @type {HTMLDialogElement} */ (dialog));
      dialog?.showModal();
      watcher.observe(document.body, { childList: true, subtree: true });
      changed(true);
    },
    close: () => dialog?.close(),
    /** @param {(on: boolean) => void} callback */
    onchange(callback) {
      changed = callback;
    },
  };
}
