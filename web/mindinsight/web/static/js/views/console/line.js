// One line of a console: its time, which leads to the charts of that moment, and its text in its colours.

import { iconButton } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { bytes, time as timeText } from "../../core/format.js";
import { styledPieces } from "./ansi.js";

/** Level of a line by its words. @typedef {"" | "error" | "trace" | "warning" | "nan"} Level */
/**
 * Time, mark, text, place, unfinished, level.
 * @typedef {[number, string, string, string, boolean, Level]} Row
 */

/** What stands between lines: the mark, and the text with its number. @type {Record<string, string>} */
const NOTES = { x: "console.lost", gap: "console.gap", start: "console.start" };

/**
 * Create one line of a console: its time, a link to the charts of that moment, and its text. A note, such as
 * of a gap, has the time and its text only.
 * @param {import("../../core/types.js").App} app
 * @param {string} run
 * @param {Row} row
 * @param {string} query what was searched for
 * @param {(() => void) | undefined} show shows a found line among its neighbours
 */
export function lineElement(app, run, [time, mark, text, place, unfinished, level], query, show) {
  const { t, selection } = app;
  const note = NOTES[mark];
  if (note) {
    const n = mark === "gap" ? bytes(Number(text)) : text;
    return h("div", { class: "console-note", "data-place": place }, t(note, { n, time: timeText(time) }));
  }
  const href = selection.linkOnly("scalar", run, { x: "wall", at: time.toFixed(3) });
  const moment = h("a", { href, class: "console-time", title: t("console.to_charts") }, clock(time));
  const classes = { e: "is-error", torn: "is-torn" };
  const kind = classes[/** @type {keyof typeof classes} */ (mark)] ?? "";
  return h(
    "div",
    {
      class: `console-line ${kind} ${level && `level-${level}`} ${unfinished ? "unfinished" : ""}`,
      "data-place": place,
      "data-time": time || null,
      title: mark === "torn" ? t("console.torn") : mark === "e" ? t("console.error") : null,
    },
    time ? moment : h("span", { class: "console-time" }),
    show && iconButton("right", t("console.show"), show),
    h(
      "span",
      { class: "console-text" },
      styledPieces(text).map(([piece, style]) => h("span", { class: style || null }, marked(piece, query))),
    ),
  );
}

/** Return the time of day of a moment. @param {number} unix */
function clock(unix) {
  return timeText(unix).split(" ").pop() ?? "";
}

/** Return a text with what was searched for marked. @param {string} text @param {string} query */
function marked(text, query) {
  if (!query) return [text];
  const parts = [];
  const [low, sought] = [text.toLowerCase(), query.toLowerCase()];
  let done = 0;
  for (let at = low.indexOf(sought); at >= 0; at = low.indexOf(sought, done)) {
    parts.push(text.slice(done, at), h("mark", null, text.slice(at, at + sought.length)));
    done = at + sought.length;
  }
  return [...parts, text.slice(done)];
}

/**
 * Return the rows that are not on the page, after taking unfinished lines from it, which they replace.
 * @param {HTMLElement} lines
 * @param {Row[]} rows
 */
export function newRows(lines, rows) {
  lines.querySelectorAll(".unfinished, p.muted").forEach((line) => line.remove());
  const shown = new Set([...lines.children].map((line) => /** @type {HTMLElement} */ (line).dataset.place));
  return rows.filter(([, , , place]) => !shown.has(place));
}

/**
 * Remove lines beyond a number. Return the place of the line that is now at that side, null if none was
 * removed.
 * @param {HTMLElement} lines
 * @param {number} most
 * @param {"start" | "end"} side
 */
export function cutLines(lines, most, side) {
  const end = side === "start" ? "firstElementChild" : "lastElementChild";
  const extra = lines.children.length - most;
  for (let i = 0; i < extra; i++) lines[end]?.remove();
  return extra > 0 ? (/** @type {HTMLElement | null} */ (lines[end])?.dataset.place ?? "") : null;
}

/**
 * Add found lines, and the button that searches on. Return the number of all found lines, where a traceback
 * counts once.
 * @param {HTMLElement} lines
 * @param {HTMLElement[]} found
 * @param {HTMLElement | null} further
 */
export function addFound(lines, found, further) {
  lines.querySelector(".console-further")?.remove();
  lines.append(...found);
  if (further) lines.append(h("p", { class: "console-further" }, further));
  return lines.querySelectorAll(".console-line:not(.level-trace)").length;
}
