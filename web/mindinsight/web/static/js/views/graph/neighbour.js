// The box an arrow key leads to.

/** @typedef {import("./shapes.js").Box} Box */

const ASKANCE = 1e6; // what lies far to the side is taken when there is nothing else

/**
 * The box nearest in a direction, as an arrow key means it.
 * @param {Box[]} boxes
 * @param {number | null} from
 * @param {number[]} direction
 */
export function neighbour(boxes, from, [dx, dy]) {
  const here = boxes.find((box) => box.id === from);
  if (!here) return boxes.find((box) => !box.open)?.id;
  let best;
  let least = Infinity;
  for (const box of boxes) {
    if (box.id === from || (box.open && inside(here, box))) continue;
    const x = box.x + box.w / 2 - here.x - here.w / 2;
    const y = box.y + (box.open ? 13 : box.h / 2) - here.y - (here.open ? 13 : here.h / 2);
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    const cost = along + 2 * aside + (aside > 2 * along ? ASKANCE : 0);
    if (along > 1 && cost < least) [best, least] = [box.id, cost];
  }
  return best;
}

/** @param {Box} inner @param {Box} outer */
function inside(inner, outer) {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.w <= outer.x + outer.w &&
    inner.y + inner.h <= outer.y + outer.h
  );
}
