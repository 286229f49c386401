// Lines of a log: numbers, levels, and those that are searched for.

import { madeClaim } from "../../core/claims.js";

/** @typedef {{number: number, text: string, level: string}} Line */

/** From the least to the worst; what a log calls them is mapped to these. */
export const LEVELS = ["debug", "info", "warning", "error"];

const LEVEL = /^\W{0,2}(?:\S+\s+){0,3}?\W?(DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b/;
const NAMES = { DEBUG: "debug", INFO: "info", WARN: "warning", WARNING: "warning" };

/** @param {string} text @param {number} [first] number of the first line @returns {Line[]} */
export function linesOf(text, first = 1) {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop(); // the end of the last line begins no other
  return lines.map((line, i) => ({ number: first + i, text: line, level: levelOf(line) }));
}

/**
 * Level of a line as "[WARNING] CORE(...)" or "2026-01-01 10:00:00 ERROR ..."; "" for none.
 * @param {string} line
 */
export function levelOf(line) {
  const name = LEVEL.exec(line)?.[1];
  return name ? (NAMES[/** @type {keyof typeof NAMES} */ (name)] ?? "error") : "";
}

/**
 * The lines with a text, whatever the case, of a level or worse. A line without a level has that of the line
 * before it, as those of a traceback.
 * @param {Line[]} lines @param {string} query @param {string} level "" for all
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
 * What is said of a log of which ``all`` lines have been read so far and ``matching`` match; up to ``most``
 * are drawn.
 * @param {number} all @param {number} matching @param {number} most @param {boolean} whole
 */
export function logClaims(all, matching, most, whole) {
  const counts = { n: matching, all };
  const count = whole
    ? madeClaim("claim.log.lines", "note", counts)
    : madeClaim("claim.log.lines_so_far", "unknown", counts);
  return matching > most ? [count, madeClaim("claim.log.drawn", "note", { n: most })] : [count];
}

/**
 * A line in pieces, every other one what is searched for.
 * @param {string} text @param {string} query @returns {string[]}
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
