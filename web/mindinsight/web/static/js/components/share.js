// Sharing of a view: copy its address, or save it as a file that opens without a server.

import { iconButton } from "./button.js";
import { dialog } from "./dialog.js";
import { toast } from "./toast.js";
import { h } from "../core/dom.js";
import { offlinePage } from "../core/offline.js";

/** @typedef {import("../core/types.js").App} App */

/**
 * Copy the page's address to the clipboard. Where that is not allowed, show it in a dialog to copy from.
 * @param {App} app
 */
export async function copyLink(app) {
  try {
    await navigator.clipboard.writeText(location.href);
    toast(app.t("share.copied"));
  } catch {
    const box = h("input", {
      type: "text",
      readonly: true,
      value: location.href,
      "aria-label": app.t("share.link"),
    });
    dialog({ title: app.t("share.link"), body: box, close: app.t("common.close") });
    box.select();
  }
}

/**
 * Download a view or a card as one HTML file.
 * @param {App} app
 * @param {Element} root
 * @param {string} title
 */
export async function savePage(app, root, title) {
  toast(app.t("share.saving"), { seconds: 2 });
  try {
    const address = URL.createObjectURL(await offlinePage(app, root, title));
    h("a", { href: address, download: `${title.replace(/[^\p{L}\p{N}.-]+/gu, "_")}.html` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    toast(app.t("error.load", { why: String(error) }), { bad: true });
  }
}

/**
 * Create the button of a card that saves it as a file.
 * @param {App} app
 * @param {() => Element} root
 * @param {string} title
 */
export function saveButton(app, root, title) {
  return iconButton("page", app.t("share.card"), () => savePage(app, root(), title));
}
