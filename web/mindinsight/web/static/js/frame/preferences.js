// Dialog of the preferences for all pages: digits, notation and refresh interval.

import { button } from "../components/button.js";
import { dialog } from "../components/dialog.js";
import { check, select } from "../components/field.js";
import { h, replace } from "../core/dom.js";
import { latest } from "../core/latest.js";
import { ALL_PAGES, DIGITS, REFRESH, readPreferences, writePreferences } from "../core/preferences.js";

/** Open the dialog. @param {import("../core/types.js").App} app */
export function showPreferences(app) {
  const { t } = app;
  const chosen = readPreferences(app.selection.list().defaults[ALL_PAGES]);
  const digits = select({
    label: t("preferences.digits"),
    options: [
      { value: "", label: t("preferences.digits.auto") },
      ...DIGITS.map((n) => ({ value: String(n), label: String(n) })),
    ],
    value: String(chosen.digits ?? ""),
    onchange: (value) => (chosen.digits = value ? Number(value) : null),
  });
  const scientific = check({
    label: t("preferences.scientific"),
    checked: chosen.scientific,
    onchange: (on) => (chosen.scientific = on),
  });
  const refresh = select({
    label: t("preferences.refresh"),
    options: REFRESH.map((seconds) => ({
      value: String(seconds),
      label: seconds ? t("preferences.refresh.every", { n: seconds }) : t("preferences.refresh.at_once"),
    })),
    value: String(chosen.refresh),
    onchange: (value) => (chosen.refresh = Number(value)),
  });
  const fault = h("p", { class: "fault small", role: "alert" });
  const save = button(
    t("common.save"),
    () =>
      latest(fault).ask(
        () => app.api.send("PUT", "v2/defaults", { view: ALL_PAGES, query: writePreferences(chosen) }),
        () => location.reload(),
        (error) => replace(fault, t(error.key ?? "error.http", error.vars)),
      ),
    { class: "primary" },
  );
  dialog({
    title: t("preferences.title"),
    body: [h("p", { class: "muted small" }, t("preferences.who")), digits, scientific, refresh, fault],
    actions: [save],
    close: t("common.close"),
  });
}
