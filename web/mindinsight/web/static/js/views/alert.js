// Alerts page: alerts of training code and of rules, newest first, and the rules.

import { button, segments } from "../components/button.js";
import { empty, loading } from "../components/empty.js";
import { check, select } from "../components/field.js";
import { unread } from "../components/nothing.js";
import { LIST } from "../core/alerts.js";
import { h, replace, throttle } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { notificationState, wantNotifications } from "../core/notifications.js";
import { alertList } from "./alert/list.js";
import { ruleEditor } from "./alert/rules.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/**
 * @typedef {Object} Options
 * @property {string} least the lowest level that is shown
 * @property {boolean} selectedOnly
 * @property {number} count
 * @property {boolean} rules
 * @property {boolean | null} grouped by run; null while nobody chose
 */

const LEVELS = ["info", "warning", "error"];
const PIECE = 100; // alerts
const MOST = 1000;
const GAP_MS = 400;
const LONG = 20; // alerts of several runs that are listed by run if nobody chose

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const page = new AlertPage(root, app);
  await Promise.all([page.read(), page.rules.read()]);
  return {
    update(change) {
      page.follow();
      if (change.list) page.rules.read();
    },
    unmount: () => page.end(),
  };
}

/** List of alerts with its options and the editor of rules. */
class AlertPage {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.options = readOptions(app.url);
    this.requests = latest(root);
    /** What is listed. @type {{alerts: import("../core/alerts.js").Alert[], now: number} | null} */
    this.last = null;
    this.list = alertList(app, app.alerts.seen());
    this.status = h("p", { class: "muted small", role: "status" });
    this.head = h("div", null);
    this.foot = h("div", null);
    this.rules = ruleEditor(app, {
      open: this.options.rules,
      ontoggle: (open) => this.change({ rules: open }),
    });
    replace(root, this.head, this.rules.element, this.status, this.list.element, this.foot);
    this.drawHead();
    this.follow = throttle(() => this.read(leaveAsIs), GAP_MS);
    document.addEventListener("visibilitychange", this.follow);
    this.offs = [
      app.selection.on(this.follow),
      app.url.on(() => this.reread()),
      app.alerts.on(() => this.redraw()),
      () => document.removeEventListener("visibilitychange", this.follow),
    ];
  }

  /** Redraw the list after its grouping or a run's mute state changed. */
  redraw() {
    if (this.last) this.list.show(this.last.alerts, this.last.now, this.grouped());
  }

  /** Return whether the list is by run: as chosen, otherwise if it is a long one of several runs. */
  grouped() {
    const alerts = this.last?.alerts ?? [];
    return this.options.grouped ?? (alerts.length > LONG && alerts.some(({ run }) => run !== alerts[0].run));
  }

  /** Show what the address names after it changed. */
  reread() {
    this.options = readOptions(this.app.url);
    this.drawHead();
    this.rules.open(this.options.rules);
    this.follow();
  }

  /** Draw the toolbar. */
  drawHead() {
    replace(
      this.head,
      /** Create the toolbar. */
      toolbar(
        this.app,
        () => ({ ...this.options, grouped: this.grouped() }),
        (changes) => this.change(changes),
      ),
    );
  }

  /** Change options, and request other alerts if needed. @param {Partial<Options>} changes */
  change(changes) {
    const { least, selectedOnly, count } = this.options;
    this.options = { ...this.options, ...changes };
    writeOptions(this.app.url, this.options);
    const now = this.options;
    this.redraw();
    if (now.least !== least || now.selectedOnly !== selectedOnly || now.count !== count) this.read();
  }

  /** Request and show the alerts. @param {(error: Failure) => unknown} [failed] */
  read(failed) {
    const { api, selection } = this.app;
    const { least, selectedOnly, count } = this.options;
    const run = selectedOnly ? ["", ...selection.runs().map(({ id }) => id)] : null;
    const level = LEVELS.slice(LEVELS.indexOf(least));
    if (!this.last) this.status.textContent = this.app.t("common.loading");
    return this.requests.ask(
      (signal) => api.get(LIST, { run, level, limit: count, archived: false }, { signal }),
      (response) => this.show(response),
      failed,
    );
  }

  /**
   * Show alerts, and mark them as seen if the list is not filtered.
   * @param {{alerts: import("../core/alerts.js").Alert[], total: number, left_out: number,
   *   archived: number, now: number}} response
   */
  show({ alerts, total, left_out: missing, archived, now }) {
    const { app, options } = this;
    const { t } = app;
    const before = this.grouped();
    this.last = { alerts, now };
    if (before !== this.grouped()) this.drawHead();
    this.redraw();
    const counts = [
      total ? t("alert.count", { n: total }) : "",
      missing ? t("alert.left_out", { n: missing }) : "",
      archived ? t("alert.archived", { n: archived }) : "",
    ];
    this.status.textContent = counts.filter(Boolean).join(" · ");
    const more = () => this.change({ count: this.options.count + PIECE });
    replace(
      this.foot,
      total > alerts.length && alerts.length < MOST ? button(t("alert.more"), more) : null,
      total ? null : nothing(app, options),
    );
    if (filtered(options) || !alerts.length || document.hidden) return;
    app.alerts.see(Math.max(...alerts.map(({ wall }) => Number(wall)).filter(Number.isFinite)));
  }

  /** Leave the page. */
  end() {
    this.follow.cancel();
    this.offs.forEach((off) => off());
    this.requests.end();
    this.list.end();
    this.rules.end();
  }
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
      value: options().selectedOnly ? "mine" : "all",
      onchange: (value) => change({ selectedOnly: value === "mine", count: PIECE }),
    }),
    select({
      label: t("alert.levels"),
      options: levels,
      value: options().least,
      onchange: (least) => change({ least, count: PIECE }),
    }),
    segments({
      label: t("alert.order"),
      options: ["time", "run"].map((value) => ({ value, label: t(`alert.order.${value}`) })),
      value: options().grouped ? "run" : "time",
      onchange: (value) => change({ grouped: value === "run" }),
    }),
    notificationSwitch(app),
  );
}

/** Create the switch for browser notifications. @param {App} app */
function notificationSwitch({ t }) {
  const box = check({
    label: t("alert.notify"),
    checked: notificationState() === "on",
    onchange: async (on) => show(await wantNotifications(on)),
  });
  const input = /** @type {HTMLInputElement} */ (box.querySelector("input"));
  const show = (/** @type {import("../core/notifications.js").State} */ state) => {
    input.checked = state === "on";
    input.disabled = state === "missing" || state === "denied";
    box.title = t(`alert.notify.${state}`);
  };
  show(notificationState());
  return box;
}

/** Return whether the options hide alerts. @param {Options} options */
function filtered(options) {
  return options.selectedOnly || options.least !== LEVELS[0];
}

/** Create the empty state. @param {App} app @param {Options} options */
function nothing(app, options) {
  if (filtered(options)) return empty({ icon: "bell", title: app.t("alert.none_match") });
  const code = 'record.alert("loss exploded", level="error", step=step)';
  const none = { icon: "bell", title: app.t("alert.none"), text: app.t("alert.none_how"), code };
  if (!app.selection.list().scanned) return loading(app.t("common.loading"));
  return unread(app, app.selection.all()) ?? empty(none);
}

/** Read the options from the address. @param {import("../core/url.js").Url} url @returns {Options} */
function readOptions(url) {
  const count = Number(url.get("n", String(PIECE)));
  return {
    least: LEVELS.find((level) => level === url.get("level")) ?? LEVELS[0],
    selectedOnly: url.get("of") === "shown",
    count: count > 0 && count <= MOST ? Math.ceil(count) : PIECE,
    rules: url.get("rules") === "1",
    grouped: { run: true, time: false }[url.get("by", "")] ?? null,
  };
}

/** Write the options to the address. @param {import("../core/url.js").Url} url @param {Options} options */
function writeOptions(url, options) {
  url.set({
    level: options.least === LEVELS[0] ? null : options.least,
    of: options.selectedOnly ? "shown" : null,
    n: options.count === PIECE ? null : options.count,
    rules: options.rules ? "1" : null,
    by: options.grouped === null ? null : options.grouped ? "run" : "time",
  });
}
