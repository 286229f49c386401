// Errors of the dump pages, as text and as a banner.

import { icon } from "../icons.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */

/** Return the translated message of an error. @param {App} app @param {Failure} error @returns {string} */
export function errorText(app, error) {
  const { t } = app;
  if (error.code === "unreadable") {
    const why = reasonText(app, { reason: error.key ?? "", detail: String(error.vars?.detail ?? "") });
    return t("error.unreadable", { why });
  }
  return t(error.key ?? "error.view", error.vars);
}

/**
 * Return why a file or a tensor cannot be read.
 * @param {App} app
 * @param {{reason: string, detail: string}} damage
 */
export function reasonText({ t }, { reason, detail }) {
  return detail ? `${t(reason)} (${detail})` : t(reason);
}

/** Create the banner of an error. @param {App} app @param {Failure} error */
export function failure(app, error) {
  return h("div", { class: "banner bad", role: "alert" }, icon("warning"), errorText(app, error));
}
