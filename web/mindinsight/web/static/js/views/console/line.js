// One line of a console: its time, which leads to the charts of that moment, and its text in its colours.

import { iconButton } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { bytes, time as timeText } from "../../core/format.js";
import { styledPieces } from "./ansi.js";

/** Time, mark, text, place, unfinished. @typedef {[number, string, string, string, boolean]} Row */

/** What stands between lines: the mark, and the text with its number. @type {Record<string, string>} */
const NOTES = { x: "console.lost", gap: "console.gap", start: "console.start" };

/** Words that state the level of a line, as programs write them: "error 0.013" is a measure. */
const LEVELS = /** @type {const} */ ([
  [
    "error",
    /\b(?:ERROR|CRITICAL|FATAL)\b|^Traceback \(|\b[A-Z]\w*(?:Error|Exception)\b:?|\b(?:nan|NaN|NAN)\b/,
  ],
  ["warning", /\bWARN(?:ING)?\b|\b\w*Warning:/],
]);

/** Return the level that a line states, "error" or "warning"; "" if it states none. @param {string} text */
export function levelOf(text) {
  return LEVELS.find(([, words]) => words.test(text))?.[0] ?? "";
}

/**
 * Create one line of a console: its time, a link to the charts of that moment, and its text. A note, such as
 * of a gap, has the time and its text only.
 * @param {import("../../core/types.js").App} app
 * @param {string} run
 * @param {Row} row
 * @param {string} query what was searched for
 * @param {(() => void) | undefined} show shows a found line among its neighbours
 */
export function lineElement(app, run, [time, mark, text, place, unfinished], query, show) {
  const { t, selection } = app;
  const note = NOTES[mark];
  if (note) {
    const n = mark === "gap" ? bytes(Number(text)) : text;
    return h("div", { class: "console-note", dataset: { place } }, t(note, { n, time: timeText(time) }));
  }
  const href = selection.linkOnly("scalar", run, { x: "wall", at: time.toFixed(3) });
  const moment = h("a", { href, class: "console-time", title: t("console.to_charts") }, clock(time));
  const classes = { e: "is-error", torn: "is-torn" };
  const kind = classes[/** @type {keyof typeof classes} */ (mark)] ?? "";
  const level = levelOf(text);
  return h(
    "div",
    {
      class: `console-line ${kind} ${level && `level-${level}`} ${unfinished ? "unfinished" : ""}`,
      dataset: { place },
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
