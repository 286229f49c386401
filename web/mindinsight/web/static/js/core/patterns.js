// Regular expressions that users type: validation and the position of an error.

/**
 * Return where a pattern becomes invalid: the position after its longest valid beginning, counted from 1, and
 * the character there. Return null if the pattern is valid.
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
 * Return the translated message for an invalid pattern, or "" if it is valid.
 * @param {import("./types.js").App} app
 * @param {string} pattern
 */
export function faultText({ t }, pattern) {
  const fault = faultOf(pattern);
  return fault ? t("error.pattern_at", fault) : "";
}

/** Return the pattern that matches exactly this text. @param {string} text */
export function exactPattern(text) {
  return `^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
}

/** Return whether a text is a valid regular expression. @param {string} text */
function isPattern(text) {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
