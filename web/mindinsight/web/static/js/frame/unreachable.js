// Message over the page while the server cannot be reached.

import { button } from "../components/button.js";
import { h, replace } from "../core/dom.js";
import { time } from "../core/format.js";

/** @typedef {import("../core/types.js").App} App */

/** Show a line above the page while the server cannot be reached. @param {App} app */
export function unreachableLine(app) {
  const { live, t } = app;
  const line = h("div", { class: "lost-line", role: "alert", hidden: true });
  document.body.append(line);
  live.onState(() => {
    const lost = live.state() === "lost";
    if (lost === !line.hidden) return;
    line.hidden = !lost;
    if (!lost) return;
    const since = t("error.lost.since", { time: time(Date.now() / 1000) });
    replace(
      line,
      h("span", null, since),
      button(t("error.again"), () => live.lookNow()),
    );
  });
}
