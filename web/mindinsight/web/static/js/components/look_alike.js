// Warning mark behind a name whose characters look like others.

import { h } from "../core/dom.js";
import { lookAlikes, numbered } from "../core/names.js";

/**
 * @param {import("../core/types.js").App} app
 * @param {string} name
 * @returns {HTMLElement | null} null for a name that is what it looks like
 */
export function lookAlikeMark(app, name) {
  const characters = lookAlikes(name).map(numbered);
  if (!characters.length) return null;
  const title = app.t("name.look_alike", { characters: characters.join(", ") });
  return h("span", { class: "badge warn", title }, `${characters[0]}${characters.length > 1 ? " …" : ""}`);
}
