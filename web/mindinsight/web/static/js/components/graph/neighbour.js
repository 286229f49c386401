// Neighbouring box in the direction of an arrow key.

/** @typedef {import("./shapes.js").Box} Box */

const ASKANCE = 1e6; // what lies far to the side is taken when there is nothing else

/**
 * Return the id of the nearest box in a direction, or undefined if there is none.
 * @param {Box[]} boxes
 * @param {number | null} from
 * @param {number[]} direction
 */
export function neighbour(boxes, from, [dx, dy]) {
  const start = boxes.find((box) => box.id === from);
  if (!start) return boxes.find((box) => !box.open)?.id;
  let best;
  let least = Infinity;
  for (const box of boxes) {
    if (box.id === from || (box.open && inside(start, box))) continue;
    const x = box.x + box.w / 2 - start.x - start.w / 2;
    const y = box.y + (box.open ? 13 : box.h / 2) - start.y - (start.open ? 13 : start.h / 2);
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    const cost = along + 2 * aside + (aside > 2 * along ? ASKANCE : 0);
    if (along > 1 && cost < least) [best, least] = [box.id, cost];
  }
  return best;
}

/** Return whether one box lies within another. @param {Box} inner @param {Box} outer */
function inside(inner, outer) {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.w <= outer.x + outer.w &&
    inner.y + inner.h <= outer.y + outer.h
  );
}
