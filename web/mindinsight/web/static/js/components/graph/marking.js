// CSS classes of selected, highlighted and found boxes, of a parameter's chips, and of a line.

import { countWithin } from "./index_ranges.js";

/** @typedef {import("./shapes.js").Box} Box */
/**
 * @typedef {Object} Marks
 * @property {number | null} selected
 * @property {Set<number> | null} lit null lights all
 * @property {number[]} hits sorted indices
 * @property {number | null} outer
 * @property {Set<number>} broken parameters with non-finite values
 * @property {import("./shapes.js").Line | null} line
 */

/**
 * Set the classes of all shapes for what is selected, highlighted or found. Return the ids of the boxes with
 * search hits.
 * @param {import("./shapes.js").Shapes | null} shapes
 * @param {Box[]} boxes
 * @param {Marks} marks
 * @returns {Set<number>} the boxes in which something was found
 */
export function markShapes(shapes, boxes, { selected, lit, hits, outer, broken, line: clicked }) {
  const found = new Set(boxes.filter((box) => isHit(box, hits)).map((box) => box.id));
  shapes?.boxes.forEach((element, id) => {
    element.classList.toggle("selected", id === selected);
    element.classList.toggle("dim", Boolean(lit) && !lit?.has(id));
    element.classList.toggle("lit", Boolean(lit?.has(id)));
    element.classList.toggle("hit", found.has(id));
    element.querySelectorAll(".chip").forEach((chip) => {
      const node = Number(chip.getAttribute("data-outer"));
      chip.classList.toggle("pointed", node === outer);
      chip.classList.toggle("broken", broken.has(node));
    });
  });
  shapes?.lines.forEach(({ element, line }) => {
    const own = line === clicked || line.source === selected || line.target === selected;
    const on = lit ? lit.has(line.source) && lit.has(line.target) : own;
    element.classList.toggle("on", on);
    element.classList.toggle("dim", Boolean(lit) && !on);
    if (element.hasAttribute("marker-end")) {
      element.setAttribute("marker-end", on ? "url(#graph-arrow-on)" : "url(#graph-arrow)");
    }
  });
  return found;
}

/**
 * Return whether an open scope itself was found, or anything inside a closed box.
 * @param {Box} box
 * @param {number[]} hits
 */
function isHit(box, hits) {
  return countWithin(hits, box.open ? { id: box.id, end: box.id + 1 } : box) > 0;
}

/** Return the smallest rectangle that holds all given boxes. @param {Box[]} boxes */
export function around(boxes) {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.w));
  const bottom = Math.max(...boxes.map((box) => box.y + box.h));
  return { x, y, w: right - x, h: bottom - y };
}
