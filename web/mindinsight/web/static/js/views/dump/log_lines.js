// Lines of a log: numbers, levels and search.

import { madeClaim } from "../../core/claims.js";

/** @typedef {{number: number, text: string, level: string}} Line */

/** From the least to the worst; what a log calls them is mapped to these. */
export const LEVELS = ["debug", "info", "warning", "error"];

const LEVEL = /^\W{0,2}(?:\S+\s+){0,3}?\W?(DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b/;
const NAMES = { DEBUG: "debug", INFO: "info", WARN: "warning", WARNING: "warning" };

/**
 * Split a text into numbered lines with their levels.
 * @param {string} text
 * @param {number} [first] number of the first line
 * @returns {Line[]}
 */
export function linesOf(text, first = 1) {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop(); // the end of the last line begins no other
  return lines.map((line, i) => ({ number: first + i, text: line, level: levelOf(line) }));
}

/**
 * Return the level of a line such as "[WARNING] CORE(...)" or "2026-01-01 10:00:00 ERROR ..."; "" if it has
 * none.
 * @param {string} line
 */
export function levelOf(line) {
  const name = LEVEL.exec(line)?.[1];
  return name ? (NAMES[/** @type {keyof typeof NAMES} */ (name)] ?? "error") : "";
}

/**
 * Return the lines that contain a text, ignoring case, and have at least a level. A line without a level, as
 * in a traceback, has that of the line before.
 * @param {Line[]} lines
 * @param {string} query
 * @param {string} level "" for all
 */
export function matchingLines(lines, query, level) {
  const wanted = query.toLowerCase();
  const least = LEVELS.indexOf(level);
  let current = "";
  return lines.filter((line) => {
    current = line.level || current;
    return LEVELS.indexOf(current) >= least && line.text.toLowerCase().includes(wanted);
  });
}

/**
 * Return the claims about the number of matching lines. They are unknown until the whole log has been read.
 * @param {number} all
 * @param {number} matching
 * @param {number} most
 * @param {boolean} whole
 */
export function logClaims(all, matching, most, whole) {
  const counts = { n: matching, all };
  const count = whole
    ? madeClaim("claim.log.lines", "note", counts)
    : madeClaim("claim.log.lines_so_far", "unknown", counts);
  return matching > most ? [count, madeClaim("claim.log.drawn", "note", { n: most })] : [count];
}

/**
 * Split a line at the searched text. Every second piece is a match.
 * @param {string} text
 * @param {string} query
 * @returns {string[]}
 */
export function pieces(text, query) {
  if (!query) return [text];
  const parts = [];
  const lower = text.toLowerCase();
  const wanted = query.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), text.slice(at, at + wanted.length));
    from = at + wanted.length;
  }
  return [...parts, text.slice(from)];
}
