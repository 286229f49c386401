// Name that fits its place: without the beginning it shares with its neighbours, and shortened in the middle.
// The full name stays in the text for copying, search and screen readers, and in the tooltip.

import { h } from "../core/dom.js";
import { visible } from "../core/names.js";

const SHORT = 24; // characters of a name that is cut at its end, if at all
const TAIL = 24; // characters at the end that stay longest, half of the name at most

/**
 * Create the element of a long name, which is cut where there is no room; its tooltip is the whole name.
 * @param {string} name
 * @param {{start?: string, title?: string, short?: number}} [options] `start`: what the names of a list share
 *   (`commonStart`); `short`: characters up to which a name is cut at its end, fewer in a narrow place
 */
export function longName(name, { start = "", title = name, short = SHORT } = {}) {
  const dropped = start && name.startsWith(start) && name.length > start.length ? start.length : 0;
  if (!dropped && name.length <= short) return h("span", { class: "ellipsis", title }, name);
  const letters = [...visible(name.slice(dropped))]; // code points: no half of a pair
  const tail = letters.length > short / 2 ? letters.splice(-Math.min(TAIL, letters.length >> 1)) : [];
  const part = (/** @type {string} */ which, /** @type {string} */ text) =>
    h("span", {
      class: which,
      "data-text": text,
      "aria-hidden": "true",
      style: { "--letters": text.length },
    });
  return h(
    "span",
    { class: "long-name", title },
    h("span", { class: "unseen" }, name),
    part("head", (dropped ? "…" : "") + letters.join("")),
    tail.length > 0 && part("tail", tail.join("")),
  );
}
