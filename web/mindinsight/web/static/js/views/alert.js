// Alerts: what the training code said and what rules found, newest first; and the rules.

import { button, segments } from "../components/button.js";
import { empty } from "../components/empty.js";
import { select } from "../components/field.js";
import { LIST } from "../core/alerts.js";
import { h, replace, throttle } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { alertList } from "./alert/list.js";
import { ruleEditor } from "./alert/rules.js";

/** @typedef {import("../core/types.js").App} App */
/**
 * @typedef {Object} Options
 * @property {string} least the lowest level that is shown
 * @property {boolean} mine
 * @property {number} count
 * @property {boolean} rules
 */

const LEVELS = ["info", "warning", "error"];
const PIECE = 100; // alerts
const MOST = 1000;
const GAP_MS = 400;

/** @param {HTMLElement} root @param {App} app @returns {Promise<import("../core/types.js").View>} */
export async function mount(root, app) {
  const { t, url, selection } = app;
  let options = readOptions(url);
  const seenBefore = app.alerts.seen();
  const asked = latest(root);
  const list = alertList(app, seenBefore);
  const status = h("p", { class: "muted small", role: "status" });
  const foot = h("div", null);
  const rules = ruleEditor(app, { open: options.rules, ontoggle: (open) => change({ rules: open }) });
  const head = h("div", null);
  replace(root, head, rules.element, status, list.element, foot);

  /** @param {Partial<Options>} some */
  const change = (some) => {
    const asks = Object.entries(some).some(
      ([key, value]) =>
        key !== "rules" &&
        JSON.stringify(options[/** @type {keyof Options} */ (key)]) !== JSON.stringify(value),
    );
    options = { ...options, ...some };
    writeOptions(url, options);
    if (asks) read();
  };

  /**
   * @param {{alerts: import("../core/alerts.js").Alert[], total: number, left_out: number, now: number}}
   *   answer
   */
  const take = ({ alerts, total, left_out: missing, now }) => {
    list.show(alerts, now);
    status.textContent = [
      total ? t("alert.count", { n: total }) : "",
      missing ? t("alert.left_out", { n: missing }) : "",
    ]
      .filter(Boolean)
      .join(" · ");
    const more = total > alerts.length && alerts.length < MOST;
    replace(
      foot,
      more ? button(t("alert.more"), () => change({ count: options.count + PIECE })) : null,
      total ? null : nothing(app, options),
    );
    if (!filtered(options) && alerts.length && !document.hidden) {
      app.alerts.see(Math.max(...alerts.map((one) => Number(one.wall)).filter(Number.isFinite)));
    }
  };

  /** @param {(error: any) => any} [failed] */
  const read = (failed) => {
    const run = options.mine ? ["", ...selection.runs().map((one) => one.id)] : null;
    return asked.ask(
      (signal) =>
        app.api.get(
          LIST,
          { run, level: LEVELS.slice(LEVELS.indexOf(options.least)), limit: options.count },
          { signal },
        ),
      take,
      failed,
    );
  };
  const follow = throttle(() => read(leaveAsIs), GAP_MS);

  replace(
    head,
    toolbar(app, () => options, change),
  );
  const offs = [
    selection.on(follow),
    url.on(() => {
      options = readOptions(url);
      replace(
        head,
        toolbar(app, () => options, change),
      );
      rules.open(options.rules);
      follow();
    }),
  ];
  document.addEventListener("visibilitychange", follow);
  await Promise.all([read(), rules.read()]);
  return {
    update(news) {
      follow();
      if (news.list) rules.read();
    },
    unmount() {
      offs.forEach((off) => off());
      document.removeEventListener("visibilitychange", follow);
      asked.end();
      list.end();
      rules.end();
    },
  };
}

/** @param {App} app @param {() => Options} options @param {(some: Partial<Options>) => void} change */
function toolbar(app, options, change) {
  const { t } = app;
  const which = [
    { value: "all", label: t("alert.runs.all") },
    { value: "mine", label: t("alert.runs.mine") },
  ];
  const levels = LEVELS.map((value) => ({ value, label: t(`alert.least.${value}`) }));
  return h(
    "div",
    { class: "toolbar" },
    h("h1", null, t("nav.alert")),
    segments({
      label: t("alert.runs"),
      options: which,
      value: options().mine ? "mine" : "all",
      onchange: (value) => change({ mine: value === "mine", count: PIECE }),
    }),
    select({
      label: t("alert.levels"),
      options: levels,
      value: options().least,
      onchange: (least) => change({ least, count: PIECE }),
    }),
  );
}

/** @param {Options} options */
function filtered(options) {
  return options.mine || options.least !== LEVELS[0];
}

/** @param {App} app @param {Options} options */
function nothing(app, options) {
  if (filtered(options)) return empty({ icon: "bell", title: app.t("alert.none_match") });
  return empty({
    icon: "bell",
    title: app.t("alert.none"),
    text: app.t("alert.none_how"),
    code: 'record.alert("loss exploded", level="error", step=step)',
  });
}

/** @param {import("../core/url.js").Url} url @returns {Options} */
function readOptions(url) {
  const count = Number(url.get("n", String(PIECE)));
  return {
    least: LEVELS.find((level) => level === url.get("level")) ?? LEVELS[0],
    mine: url.get("of") === "shown",
    count: count > 0 && count <= MOST ? Math.ceil(count) : PIECE,
    rules: url.get("rules") === "1",
  };
}

/** @param {import("../core/url.js").Url} url @param {Options} options */
function writeOptions(url, options) {
  url.set({
    level: options.least === LEVELS[0] ? null : options.least,
    of: options.mine ? "shown" : null,
    n: options.count === PIECE ? null : options.count,
    rules: options.rules ? "1" : null,
  });
}
