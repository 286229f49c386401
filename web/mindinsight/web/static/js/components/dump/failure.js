// Errors of the dump pages, as text and as a banner.

import { icon } from "../icons.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */

/** Return the translated message of an error. @param {App} app @param {Failure} error @returns {string} */
export function errorText({ t }, error) {
  if (error.code === "unreadable") {
    return t("error.unreadable", { why: t(error.key ?? ""), detail: error.vars?.detail ?? "" });
  }
  return t(error.key ?? "error.view", error.vars);
}

/** Create the banner of an error. @param {App} app @param {Failure} error */
export function failure(app, error) {
  return h("div", { class: "banner bad", role: "alert" }, icon("warning"), errorText(app, error));
}
