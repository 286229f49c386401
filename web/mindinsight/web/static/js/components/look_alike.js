// Warning beside a name with characters that look like other ones.

import { h } from "../core/dom.js";
import { lookAlikes, numbered } from "../core/names.js";

/**
 * Create the warning that characters of a name look like other ones, or return null if it has no such
 * characters.
 * @param {import("../core/types.js").App} app
 * @param {string} name
 * @returns {HTMLElement | null}
 */
export function lookAlikeMark(app, name) {
  const characters = lookAlikes(name).map(numbered);
  if (!characters.length) return null;
  const title = app.t("name.look_alike", { characters: characters.join(", ") });
  return h("span", { class: "badge warn", title }, `${characters[0]}${characters.length > 1 ? " …" : ""}`);
}
