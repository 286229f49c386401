// Titles of open scopes whose own titles are above the visible part.

import { h, replace } from "../../core/dom.js";

const NARROW = 600; // px of a view with room for two titles
const LEAST = 90; // px of a frame that must be in sight below the line

/** @typedef {import("./shapes.js").Box} Box */
/** @typedef {{x: number, y: number, k: number}} Transform */

/**
 * Return the open scopes across the horizontal centre whose titles lie above the visible part, outermost
 * first.
 * @param {Box[]} boxes scopes before what is in them
 * @param {Transform} transform
 * @param {number} width of the view in px
 */
export function hiddenTitles(boxes, { x, y, k }, width) {
  const middle = width / 2;
  return boxes.filter(
    (box) =>
      box.open &&
      box.y * k + y < 0 &&
      (box.y + box.h) * k + y > LEAST &&
      box.x * k + x < middle &&
      (box.x + box.w) * k + x > middle,
  );
}

/**
 * Create the bar with the titles of open scopes that lie above the visible part. A click on a title selects
 * its scope.
 * @param {string} label
 * @param {(id: number) => void} goTo
 */
export function createTitleBar(label, goTo) {
  const element = h("div", { class: "graph-titles", role: "group", "aria-label": label, hidden: true });
  let shown = "";
  return {
    element,

    /** @param {Box[]} boxes @param {Transform} transform @param {number} width */
    update(boxes, transform, width) {
      const titles = hiddenTitles(boxes, transform, width).slice(width < NARROW ? -2 : 0);
      const ids = titles.map((box) => box.id).join();
      if (ids === shown) return;
      shown = ids;
      element.hidden = !titles.length;
      replace(
        element,
        titles.map((box) =>
          h(
            "button",
            { type: "button", class: "quiet", title: box.path, onclick: () => goTo(box.id) },
            box.label,
          ),
        ),
      );
    },
  };
}
