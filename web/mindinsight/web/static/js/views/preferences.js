// Preferences page: how all pages look and write, in this browser and for everyone using the workspace.

import { segments } from "../components/button.js";
import { check, select, slider } from "../components/field.js";
import { tableHead } from "../components/table_head.js";
import { h, replace } from "../core/dom.js";
import { chooseLanguage } from "../core/i18n.js";
import { latest, leaveAsIs } from "../core/latest.js";
import * as preferences from "../core/preferences.js";

/** @typedef {import("../core/types.js").App} App */

export const alone = true;

/** Mount the page. @param {HTMLElement} root @param {App} app */
export async function mount(root, app) {
  const { t } = app;
  const shared = h("section", { class: "panel stack", "aria-label": t("preferences.workspace") });
  const extensions = h("div", { class: "preferences-extensions" });
  const requests = latest(root);
  const draw = () => replace(shared, workspacePart(app, shared));
  replace(
    root,
    h("h1", null, t("nav.preferences")),
    h(
      "div",
      { class: "preferences" },
      h("section", { class: "panel stack", "aria-label": t("preferences.browser") }, browserPart(app)),
      shared,
    ),
    extensions,
  );
  draw();
  requests.ask(
    (signal) => app.api.get("v2/extensions", {}, { signal }),
    ({ extensions: known }) => known.length > 0 && replace(extensions, extensionsPart(app, known)),
    leaveAsIs,
  );
  return { unmount: requests.end };
}

/**
 * Create the panel of what other distributions add.
 * @param {App} app
 * @param {import("../core/answers.js").Extension[]} known
 */
function extensionsPart({ t }, known) {
  const state = (/** @type {string} */ error) =>
    error ? h("span", { class: "badge bad" }, t("extensions.failed", { why: error })) : t("extensions.used");
  return h(
    "section",
    { class: "panel", "aria-label": t("extensions.title") },
    h("h2", { class: "panel-title" }, t("extensions.title")),
    h(
      "table",
      { class: "table" },
      tableHead(["what", "name", "from", "state", "seconds"].map((name) => t(`extensions.${name}`))),
      h(
        "tbody",
        null,
        known.map(({ group, name, distribution, error, seconds }) =>
          h(
            "tr",
            null,
            h("td", null, t(`extensions.of.${group}`)),
            h("td", null, name),
            h("td", null, distribution),
            h("td", null, state(error)),
            h("td", { class: "number" }, seconds),
          ),
        ),
      ),
    ),
  );
}

/** Create the preferences of this browser. @param {App} app */
function browserPart(app) {
  const { selection, t, theme } = app;
  const choice = (/** @type {string} */ group) => (/** @type {string} */ value) => ({
    value,
    label: t(`preferences.${group}.${value}`),
  });
  return [
    h("h2", null, t("preferences.browser")),
    named(
      t("preferences.theme"),
      segments({
        label: t("preferences.theme"),
        options: ["system", "light", "dark"].map(choice("theme")),
        value: theme.chosen(),
        onchange: (value) => theme.choose(/** @type {import("../core/theme.js").Choice} */ (value)),
      }),
    ),
    select({
      label: t("preferences.language"),
      options: [
        { value: "en", label: "English" },
        { value: "zh", label: "中文" },
      ],
      value: app.boot.lang,
      onchange: chooseLanguage,
    }),
    named(
      t("preferences.density"),
      segments({
        label: t("preferences.density"),
        options: ["comfortable", "compact"].map(choice("density")),
        value: preferences.isCompact() ? "compact" : "comfortable",
        onchange: (value) => preferences.chooseCompact(value === "compact"),
      }),
    ),
    check({
      label: t("scalar.dashes"),
      checked: selection.colouring.dashed(),
      onchange: (on) => selection.colouring.useDashes(on),
    }),
    check({
      label: t("keys.on"),
      checked: preferences.shortcutsOn(),
      onchange: preferences.switchShortcuts,
    }),
    h("p", { class: "muted small" }, t("preferences.keys")),
  ];
}

/**
 * Create the preferences of the workspace. Each is saved when it is changed.
 * @param {App} app
 * @param {HTMLElement} root shows that it is being saved
 */
function workspacePart(app, root) {
  const { t } = app;
  const chosen = preferences.preferencesOf(app);
  const fault = h("p", { class: "fault small", role: "alert" });
  const done = h("p", { class: "muted small", role: "status" });
  const requests = latest(root);
  /** @type {Promise<unknown>} one after another: of two at once the server may store the older one last */
  let saved = Promise.resolve();
  const put = () =>
    app.api.send("PUT", "v2/defaults", {
      view: preferences.ALL_PAGES,
      query: preferences.writePreferences(chosen),
    });
  /** @param {Partial<preferences.Preferences>} changes */
  const save = (changes) => {
    Object.assign(chosen, changes);
    replace(done);
    requests.ask(
      () => (saved = saved.then(put, put)),
      () => {
        replace(fault);
        app.selection.refresh(); // they come with the list of runs
        replace(done, t("preferences.saved"));
      },
      (error) => replace(fault, t(error.key ?? "error.http", error.vars)),
    );
  };
  const smoothing = slider({
    label: t("preferences.smoothing"),
    min: 0,
    max: 0.99,
    step: 0.01,
    value: chosen.smoothing,
    delay: 300,
    onchange: (value) => save({ smoothing: value }),
  });
  return [
    h("h2", null, t("preferences.workspace")),
    h("p", { class: "muted small" }, t("preferences.who")),
    numberFields(app, chosen, save),
    timeFields(app, chosen, save),
    smoothing,
    fault,
    done,
  ];
}

/**
 * Create the fields of digits and notation.
 * @param {App} app
 * @param {preferences.Preferences} chosen
 * @param {(changes: Partial<preferences.Preferences>) => void} save
 */
function numberFields({ t }, chosen, save) {
  const digits = select({
    label: t("preferences.digits"),
    options: [
      { value: "", label: t("preferences.digits.auto") },
      ...preferences.DIGITS.map((n) => ({ value: String(n), label: String(n) })),
    ],
    value: String(chosen.digits ?? ""),
    onchange: (value) => save({ digits: value ? Number(value) : null }),
  });
  const scientific = check({
    label: t("preferences.scientific"),
    checked: chosen.scientific,
    onchange: (on) => save({ scientific: on }),
  });
  return [digits, scientific];
}

/**
 * Create the fields of time zone, format of times and refresh interval.
 * @param {App} app
 * @param {preferences.Preferences} chosen
 * @param {(changes: Partial<preferences.Preferences>) => void} save
 */
function timeFields({ boot, t }, chosen, save) {
  const zone = select({
    label: t("preferences.zone"),
    options: [
      {
        value: "",
        label: t("preferences.zone.auto", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone }),
      },
      { value: "utc", label: "UTC" },
    ],
    value: chosen.utc ? "utc" : "",
    onchange: (value) => save({ utc: value === "utc" }),
  });
  const sample = new Date(2026, 10, 21, 9, 15, 2);
  const format = select({
    label: t("preferences.time"),
    options: [
      { value: "", label: "2026-11-21 09:15:02" },
      {
        value: "local",
        label: sample.toLocaleString(boot.lang, { dateStyle: "medium", timeStyle: "medium" }),
      },
    ],
    value: chosen.localTime ? "local" : "",
    onchange: (value) => save({ localTime: value === "local" }),
  });
  const refresh = select({
    label: t("preferences.refresh"),
    options: preferences.REFRESH.map((seconds) => ({
      value: String(seconds),
      label: seconds ? t("preferences.refresh.every", { n: seconds }) : t("preferences.refresh.at_once"),
    })),
    value: String(chosen.refresh),
    onchange: (value) => save({ refresh: Number(value) }),
  });
  return [zone, format, refresh];
}

/** Create a label beside a group of buttons. @param {string} label @param {HTMLElement} control */
function named(label, control) {
  return h(
    "div",
    { class: "field inline" },
    h("span", { class: "label", "aria-hidden": "true" }, label),
    control,
  );
}
