// Preferences of a base directory for all pages: notation of numbers and refresh interval.

import { writeNumbers } from "./format.js";

/** @typedef {{digits: number | null, scientific: boolean, refresh: number}} Preferences `refresh` in s */

/** Where the server keeps them, beside the settings of single pages. */
export const ALL_PAGES = "all";

export const DIGITS = [3, 4, 5, 6, 8, 10];
export const REFRESH = [0, 5, 15, 60, 300]; // s; 0 for at once

/**
 * Parse preferences from a query. Values that are not offered become the defaults.
 * @param {string | undefined} query
 * @returns {Preferences}
 */
export function readPreferences(query) {
  const params = new URLSearchParams(query ?? "");
  const digits = Number(params.get("n"));
  const refresh = Number(params.get("r"));
  return {
    digits: DIGITS.includes(digits) ? digits : null,
    scientific: params.get("e") === "1",
    refresh: REFRESH.includes(refresh) ? refresh : 0,
  };
}

/**
 * Return preferences as a query; "" for the defaults.
 * @param {Preferences} preferences
 * @returns {string} "" for the built-in ones
 */
export function writePreferences({ digits, scientific, refresh }) {
  const params = new URLSearchParams();
  if (digits) params.set("n", String(digits));
  if (scientific) params.set("e", "1");
  if (refresh) params.set("r", String(refresh));
  return params.toString();
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
