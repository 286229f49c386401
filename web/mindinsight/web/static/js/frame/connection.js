// Connection indicator in the header: state of the event stream, pause and refresh.

import { namedIconButton, replaceableButton } from "../components/button.js";
import { h } from "../core/dom.js";

/**
 * Create the connection indicator: state of the event stream, and buttons to pause and to refresh.
 * @param {import("../core/types.js").App} app
 */
export function connection(app) {
  const { live, t } = app;
  const text = h("span");
  const mark = h("div", { class: "connection", role: "status" }, text);
  const waiting = h("span", { class: "waiting" }); // not in the mark: it would be read aloud at every change
  const toggle = replaceableButton();
  const show = () => {
    const state = live.paused() && live.state() !== "lost" ? "paused" : live.state();
    const n = live.interval();
    const key = state === "live" && n ? "connection.timed" : `connection.${state}`;
    mark.dataset.state = state;
    mark.title = t(`${key}.why`, { n });
    text.textContent = t(key, { n });
    waiting.textContent = live.waiting() ? t("connection.waiting", { n: live.waiting() }) : "";
    const [icon, name] = live.paused() ? ["play", t("connection.resume")] : ["pause", t("connection.pause")];
    toggle.show(icon, name, name, () => togglePause(live));
  };
  live.onState(show);
  show();
  if (live.state() === "copy") return [mark];
  return [mark, waiting, toggle.element, refreshing(app, "where-wide")];
}

/**
 * Create the button that looks for changes now. A narrow window has it in the menu of less frequent tools.
 * @param {import("../core/types.js").App} app
 * @param {"where-wide" | "where-narrow"} where it is shown
 */
export function refreshing({ live, t }, where) {
  const now = t("connection.now");
  return namedIconButton("reset", now, now, () => live.lookNow(), { class: `icon quiet ${where}` });
}

/** Pause updates, or resume them. @param {import("../core/live.js").Live} live */
export function togglePause(live) {
  if (live.paused()) live.resume();
  else live.pause();
}
