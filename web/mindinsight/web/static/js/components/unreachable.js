// Empty state of a page whose server cannot be reached.

import { button } from "./button.js";
import { empty } from "./empty.js";

/**
 * Create the empty state with a button that tries again.
 * @param {import("../core/types.js").App} app
 * @param {any} error why nothing could be loaded
 */
export function unreachablePage({ live, t }, error) {
  const answered = error?.status > 0 && live.state() !== "lost";
  return empty({
    icon: "warning",
    title: t(answered ? "error.view" : "error.lost"),
    text: answered ? t(error.key, error.vars) : t("error.lost.why"),
    action: button(t("error.again"), () => location.reload(), { class: "primary" }),
  });
}
