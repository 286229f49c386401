// Preferences for all pages: those of a workspace, kept by the server, and those of this browser.

import { writeNumbers } from "./format.js";
import { cookiePath } from "./i18n.js";

/**
 * @typedef {Object} Preferences
 * @property {number | null} digits significant digits; null for automatic
 * @property {boolean} scientific scientific notation for all numbers
 * @property {boolean} utc times in UTC instead of the browser's time zone
 * @property {boolean} localTime times as the language writes them, not as 2026-11-21 09:15:02
 * @property {number} refresh seconds between two refreshes; 0 for immediately
 * @property {number} smoothing weight with which curves open
 */

/** Name under which the server stores the preferences, beside the settings of single pages. */
export const ALL_PAGES = "all";

export const DIGITS = [3, 4, 5, 6, 8, 10];
export const REFRESH = [0, 5, 15, 60, 300]; // s; 0 for immediately
export const SMOOTHING = 0.6; // weight with which curves open: spikes stay in sight, the trend can be read
const YEAR = 31_536_000; // s

/**
 * Parse preferences from a query. Values that are not offered become the defaults.
 * @param {string | undefined} query
 * @returns {Preferences}
 */
export function readPreferences(query) {
  const params = new URLSearchParams(query ?? "");
  const digits = Number(params.get("n"));
  const refresh = Number(params.get("r"));
  const smoothing = Number(params.get("s") ?? SMOOTHING);
  return {
    digits: DIGITS.includes(digits) ? digits : null,
    scientific: params.get("e") === "1",
    utc: params.get("tz") === "utc",
    localTime: params.get("t") === "local",
    refresh: REFRESH.includes(refresh) ? refresh : 0,
    smoothing: smoothing >= 0 && smoothing < 1 ? smoothing : SMOOTHING,
  };
}

/**
 * Return preferences as a query; "" for the defaults.
 * @param {Preferences} preferences
 * @returns {string} "" for the built-in ones
 */
export function writePreferences({ digits, scientific, utc, localTime, refresh, smoothing }) {
  const params = new URLSearchParams();
  if (digits) params.set("n", String(digits));
  if (scientific) params.set("e", "1");
  if (utc) params.set("tz", "utc");
  if (localTime) params.set("t", "local");
  if (refresh) params.set("r", String(refresh));
  if (smoothing !== SMOOTHING) params.set("s", String(smoothing));
  return params.toString();
}

/**
 * Return the preferences of the workspace.
 * @param {Pick<import("./types.js").App, "selection">} app
 */
export function preferencesOf({ selection }) {
  return readPreferences(selection.list().defaults[ALL_PAGES]);
}

/**
 * Apply the preferences that come with each list of runs.
 * @param {Pick<import("./types.js").App, "live" | "selection" | "theme">} app
 */
export function followPreferences({ live, selection, theme }) {
  let known = "";
  const follow = () => {
    const query = selection.list().defaults[ALL_PAGES] ?? "";
    if (query === known) return;
    known = query;
    const preferences = readPreferences(query);
    writeNumbers(preferences);
    live.every(preferences.refresh);
    theme.changed();
  };
  follow();
  selection.on(follow);
}

/**
 * Return whether keyboard shortcuts are switched on. Single keys can disturb speech input, so they can be
 * switched off.
 */
export function shortcutsOn() {
  return !/(?:^|; )mindinsight_keys=off/.test(document.cookie);
}

/** Switch keyboard shortcuts on or off in this browser. @param {boolean} enabled */
export function switchShortcuts(enabled) {
  keepCookie("keys", enabled ? "" : "off");
}

/** Return whether rows and controls are compact. */
export function isCompact() {
  return document.documentElement.dataset.density === "compact";
}

/** Make rows and controls compact, or not, in this browser. @param {boolean} compact */
export function chooseCompact(compact) {
  document.documentElement.dataset.density = compact ? "compact" : "comfortable";
  keepCookie("density", compact ? "compact" : "");
}

/** Keep a preference of this browser; "" forgets it. @param {string} name @param {string} value */
function keepCookie(name, value) {
  const age = value ? YEAR : 0;
  document.cookie = `mindinsight_${name}=${value}; path=${cookiePath()}; max-age=${age}; samesite=lax`;
}
