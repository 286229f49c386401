// System page: what machines did beside a training, with the curve that says most about it.

import { mountCharts } from "./scalar.js";

/** Mount the page. @param {HTMLElement} root @param {import("../core/types.js").App} app */
export function mount(root, app) {
  return mountCharts(root, app, "system");
}
