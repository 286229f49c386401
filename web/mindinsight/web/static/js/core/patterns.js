// Regular expressions that people write: where a broken one is broken.

/**
 * @param {string} pattern
 * @returns {{at: number, part: string} | null} where it stops being one: the place after the longest
 *   beginning that is one, counted from 1, and what stands there; null for a whole one
 */
export function faultOf(pattern) {
  if (isPattern(pattern)) return null;
  let end = pattern.length - 1;
  while (end > 0 && !isPattern(pattern.slice(0, end))) end--;
  return { at: end + 1, part: pattern.slice(end, end + 1) };
}

/**
 * What is wrong with a pattern, in words; "" for a whole one.
 * @param {import("./types.js").App} app
 * @param {string} pattern
 */
export function faultText({ t }, pattern) {
  const fault = faultOf(pattern);
  return fault ? t("error.pattern_at", fault) : "";
}

/** The pattern that matches a text and nothing else. @param {string} text */
export function exactPattern(text) {
  return `^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
}

/** @param {string} text */
function isPattern(text) {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
