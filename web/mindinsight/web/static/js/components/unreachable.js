// Empty state of a page whose server cannot be reached.

import { button } from "./button.js";
import { empty } from "./empty.js";

const BACK = ["live", "polling"]; // states of the connection with a server

/** @typedef {import("../core/types.js").Failure} Failure */

/**
 * Create the empty state of a page that could not be loaded, with a button that tries again. Once the server
 * is back, the page does so itself.
 * @param {import("../core/types.js").App} app
 * @param {Failure} error why nothing could be loaded
 */
export function unreachablePage({ live, t }, error) {
  const answered = Boolean(error.status) && live.state() !== "lost";
  const element = empty({
    icon: "warning",
    title: t(answered ? "error.view" : "error.lost"),
    text: answered ? t(error.key ?? "error.http", error.vars) : t("error.lost.why"),
    action: button(t("error.again"), () => location.reload(), { class: "primary" }),
  });
  const off = live.onState((state) => {
    if (!element.isConnected) off();
    else if (!answered && BACK.includes(state)) location.reload();
  });
  return element;
}
