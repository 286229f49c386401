// Formatting of numbers, sizes and times.

/**
 * How numbers and times are written: significant digits, null for as many as suit their place; scientific
 * notation for all; times in UTC, and as the language writes them.
 * @typedef {{digits: number | null, scientific: boolean, utc?: boolean, localTime?: boolean}} Notation
 */

/** @type {Notation} */
let notation = { digits: null, scientific: false };

/** Set the notation of all numbers and times that are formatted from now on. @param {Notation} next */
export function writeNumbers(next) {
  notation = next;
}

/** Return the current notation as a d3 format, for texts drawn by Plotly. */
export function chartFormat() {
  const digits = notation.digits ?? 4;
  return notation.scientific ? `.${digits - 1}e` : `.${digits}g`;
}

/**
 * Format a number with four significant digits, or `digits`: 0.001234, 12.34, 1.2e−7. Whole numbers below 1e7
 * keep all digits. The user's preference for digits applies to all others.
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "−Inf";
  if (Number.isInteger(value) && Math.abs(value) < 10 ** Math.max(7, digits)) {
    return String(value).replace("-", "−");
  }
  const size = Math.abs(value);
  const significant = notation.digits ?? digits;
  const text =
    size >= 1e-4 && size < 1e7 && !notation.scientific
      ? String(Number(value.toPrecision(significant)))
      : value.toExponential(significant - 1).replace(/\.?0+e/, "e");
  return text.replace("-", "−").replace("e+", "e").replace("e-", "e−");
}

/**
 * Format a step: with all its digits, as those of neighbours differ in the last.
 * @param {number | undefined} value
 */
export function step(value) {
  return number(value, 16); // 16 digits hold all integers that are exact
}

/**
 * Format a number that somebody set: as others, but with all digits of integers, as seeds differ in the last.
 * @param {number} value
 */
export function setting(value) {
  return Number.isInteger(value) ? step(value) : number(value, 5);
}

/** Format a size: 12.3 MB. @param {number} count */
export function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (count >= 1000 && unit < units.length - 1) {
    count /= 1000;
    unit++;
  }
  return `${unit && count < 100 ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

/**
 * Format a number of days as the page's language does: 3d. @param {number} days
 */
function inDays(days) {
  const language = globalThis.document?.documentElement.lang || "en";
  return new Intl.NumberFormat(language, { style: "unit", unit: "day", unitDisplay: "narrow" }).format(days);
}

/**
 * Format a duration: 5.2 s, 1:02:03 or 3d 4:05. Return "–" for negative or non-finite values.
 * @param {number} seconds
 */
export function duration(seconds) {
  if (!Number.isFinite(seconds) || seconds < 0) return "–";
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const total = Math.round(seconds);
  const days = Math.floor(total / 86400);
  const hours = Math.floor((total % 86400) / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const clock = `${String(minutes).padStart(2, "0")}:${String(total % 60).padStart(2, "0")}`;
  if (days) return `${inDays(days)} ${hours}:${String(minutes).padStart(2, "0")}`;
  return hours ? `${hours}:${clock}` : clock.replace(/^0/, "");
}

/**
 * Format a time in the preferred time zone: 2026-11-21 09:15:02. Return "–" if it is missing.
 * @param {number} unix seconds
 */
export function time(unix) {
  if (!Number.isFinite(unix) || unix <= 0 || unix > LAST_TIME) return "–";
  const date = new Date(unix * 1000);
  const { utc, localTime } = notation;
  const zone = utc ? " UTC" : "";
  if (localTime) {
    const style = /** @type {const} */ ({ dateStyle: "medium", timeStyle: "medium" });
    const lang = document.documentElement.lang;
    return date.toLocaleString(lang, { ...style, timeZone: utc ? "UTC" : undefined }) + zone;
  }
  return new Date(plotTime(unix)).toISOString().slice(0, 19).replace("T", " ") + zone;
}

/**
 * Return the milliseconds at which Plotly, which knows UTC only, shows a time in the preferred time zone.
 * @param {number} unix seconds
 */
export function plotTime(unix) {
  return unix * 1000 - (notation.utc ? 0 : new Date(unix * 1000).getTimezoneOffset() * 60_000);
}

/** Return the name of the preferred time zone at a time: UTC, UTC+8, UTC−3:30. @param {number} unix */
export function zoneName(unix) {
  const minutes = notation.utc ? 0 : -new Date(unix * 1000).getTimezoneOffset() || 0;
  if (!minutes) return "UTC";
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? "−" : "+"}${hours}${rest ? `:${String(rest).padStart(2, "0")}` : ""}`;
}

const LAST_TIME = 253_402_214_400; // s; 9999-12-31: later years have five digits
const AHEAD = 60; // seconds that clocks of two machines may differ without a word

/**
 * Return how long ago something was, in words of the current language.
 * @param {number} seconds
 * @param {import("./types.js").Translate} t
 */
export function ago(seconds, t) {
  if (seconds < -AHEAD) return t("common.ahead");
  if (seconds < 5) return t("common.now");
  const steps = /** @type {[number, string][]} */ ([
    [60, "seconds"],
    [3600, "minutes"],
    [86400, "hours"],
    [Infinity, "days"],
  ]);
  let size = 1;
  for (const [limit, unit] of steps) {
    if (seconds < limit) return t(`common.ago.${unit}`, { n: Math.floor(seconds / size) });
    size = limit;
  }
  return "";
}

/**
 * Return a value that is no number as text: a truth value as in Python, a text that looks like one in quotes.
 * @param {unknown} value
 */
export function plainText(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" && /^(true|false)$/i.test(value) ? `"${value}"` : String(value);
}
