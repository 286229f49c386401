// Charts of more runs than can be followed: a few curves are coloured and named, the others are gray.

import { bestEnd } from "../../components/runs/values.js";
import { button } from "../../components/button.js";
import { COLOURS } from "../../core/colours.js";
import { h, replace } from "../../core/dom.js";

/** @typedef {import("./curve.js").Line} Line */
/** @typedef {"best" | "worst" | "lowest" | "highest" | "pinned"} Role why a curve is coloured */

export const MANY = 30; // curves beyond which colours repeat too often to be told apart
const FIRST = 3; // curves with the best last values, or the lowest
const LAST = 2; // with the worst, or the highest

/**
 * Return the lines of a chart in drawing order: gray lines first, then those coloured for their role. `order`
 * is the position by last value. Charts of at most `MANY` lines, or with runs coloured by a value or group,
 * are unchanged.
 * @param {import("../../core/types.js").App} app
 * @param {string} tag
 * @param {Line[]} lines
 * @returns {Line[]}
 */
export function highlighted(app, tag, lines) {
  if (lines.length <= MANY || app.selection.colouring.colours()) return lines;
  const end = bestEnd(tag);
  const sign = end === "max" ? -1 : 1;
  const ordered = lines
    .map((line) => ({ line, value: line.curve.value.at(-1) ?? NaN }))
    .sort((a, b) => rank(sign * a.value) - rank(sign * b.value) || 0);
  const known = ordered.filter(({ value }) => Number.isFinite(value)).length;
  const [first, last] = /** @type {Role[]} */ (end ? ["best", "worst"] : ["lowest", "highest"]);
  const colour = distinctColours(app);
  const marked = ordered.map(({ line }, order) => {
    const pinned = app.selection.run(line.curve.run)?.pinned ? /** @type {Role} */ ("pinned") : undefined;
    const place = order < FIRST ? first : order >= known - LAST && order < known ? last : pinned;
    const dash = place === last ? "dash" : line.dash; // colours repeat
    return { ...line, order, role: place, quiet: !place, dash, colour: place ? colour(line) : line.colour };
  });
  return [...marked.filter(({ quiet }) => quiet), ...marked.filter(({ quiet }) => !quiet).reverse()];
}

/**
 * Return a function that gives each line its colour, or another one if a line before it has that.
 * @param {import("../../core/types.js").App} app
 */
function distinctColours({ theme }) {
  /** @type {Set<string>} */
  const taken = new Set();
  return (/** @type {Line} */ { colour }) => {
    let free = colour;
    for (let i = 1; taken.has(free) && i <= COLOURS; i++) free = theme.colour(`--run-${i}`);
    taken.add(free);
    return free;
  };
}

/** Return a number that sorts what is not finite last. @param {number} value */
const rank = (value) => (Number.isFinite(value) ? value : Number.MAX_VALUE);

/**
 * Return the lines that a legend names, the best first.
 * @param {Line[]} lines
 * @param {boolean} all
 * @param {number} most
 */
export function namedLines(lines, all, most) {
  if (lines.length < 2) return [];
  const place = (/** @type {Line} */ { order = 0 }) => order;
  const sorted = [...lines].sort((a, b) => place(a) - place(b));
  const few = lines.some(({ role }) => role) ? sorted.filter(({ role }) => role) : lines;
  return (all ? sorted : few).slice(0, most);
}

/**
 * Create the note above charts of many runs: which curves are coloured, with a way to their groups.
 * @param {import("./card.js").Page} page
 */
export function manyRunsNote(page) {
  const { app } = page;
  const element = h("p", { class: "row wrap small muted", hidden: true });
  return {
    element,
    /** Show the note if there are many runs. */
    show() {
      const n = app.selection.entries().length;
      element.hidden = n <= MANY || app.selection.colouring.colours() !== null;
      if (element.hidden) return;
      replace(
        element,
        h("span", null, app.t("scalar.many", { n, first: FIRST, last: LAST })),
        button(app.t("scalar.many.groups"), () => page.change({ mode: "groups" }), { class: "link" }),
      );
    },
  };
}
