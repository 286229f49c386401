// Bell in the header with the number of unread alerts, and a toast for each new one.

import { alertText } from "../components/alerts.js";
import { icon } from "../components/icons.js";
import { toast } from "../components/toast.js";
import { h } from "../core/dom.js";
import { notify } from "../core/notifications.js";

const SECONDS = 8; // a line stays
const LINES = 3; // at a time
const MOST = 99; // that the badge counts

/**
 * Create the bell, a link to the alerts with the number of unread ones. It also shows a toast for each new
 * one.
 * @param {import("../core/types.js").App} app
 */
export function bell(app) {
  const { alerts, router, selection, t, url } = app;
  const count = h("span", { class: "count", "aria-hidden": "true" });
  const link = h(
    "a",
    { class: "button quiet icon bell" },
    icon("bell"),
    count,
    h("span", { class: "name", "aria-hidden": "true" }, t("nav.alert")),
  );

  const draw = () => {
    const n = alerts.unseen();
    const name = n ? t("alert.bell.new", { n }) : t("alert.bell");
    link.setAttribute("aria-label", name);
    link.title = name;
    link.href = url.link("alert");
    link.toggleAttribute("aria-current", false);
    if (router.current() === "alert") link.setAttribute("aria-current", "page");
    count.textContent = n > MOST ? `${MOST}+` : String(n || "");
  };
  router.on(draw);
  selection.on(draw);
  alerts.on((fresh) => {
    draw();
    announce(app, fresh);
  });
  draw();
  return link;
}

/**
 * Show toasts and notifications for new alerts.
 * @param {import("../core/types.js").App} app
 * @param {import("../core/alerts.js").Alert[]} alerts newest first
 */
function announce(app, alerts) {
  const { selection, t } = app;
  alerts = alerts.filter(({ replaced }) => !replaced);
  const messages = alerts
    .filter(({ level }) => level !== "info")
    .map((alert) => ({
      id: alert.id,
      title: `${t(`alert.level.${alert.level}`)} · ${selection.run(alert.run)?.name ?? alert.run}`,
      text: alertText(app, alert) || t("alert.untitled"),
    }));
  notify(messages, () => app.router.go(app.url.link("alert")));
  for (const alert of alerts.slice(0, LINES).reverse()) {
    const run = selection.run(alert.run)?.name ?? alert.run;
    toast(t("alert.came", { level: t(`alert.level.${alert.level}`), run, what: alertText(app, alert) }), {
      bad: alert.level === "error",
      seconds: SECONDS,
    });
  }
  const more = alerts.length - LINES;
  if (more > 0) toast(t("alert.came_more", { n: more }), { seconds: SECONDS });
}
