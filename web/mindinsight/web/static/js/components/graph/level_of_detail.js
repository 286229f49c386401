// Level of detail of a large drawing: what is visible and large enough to read.

/** @typedef {import("./shapes.js").Box} Box */
/** @typedef {import("./shapes.js").Line} Line */
/** @typedef {import("./shapes.js").Picture} Picture */
/** @typedef {import("./camera.js").Rect} Rect */

export const MANY = 1500; // boxes and lines up to which a drawing is made whole
const READABLE = 12; // px of width below which a box is a plain rectangle
const MOST_BOXES = 450; // in detail
const MOST_LINES = 700;
const AROUND = 0.4; // of the sight on each side, that is made ahead
const RESCALED = 1.25; // change of scale after which the choice is made anew

/** Return whether a picture is drawn only in part. @param {Picture} picture */
export function isLarge({ boxes, lines }) {
  return boxes.length + lines.length > MANY;
}

/**
 * Return whether two rectangles overlap.
 * @param {{x: number, y: number, w: number, h: number}} a
 * @param {Rect} b
 */
function meet(a, b) {
  return a.x < b.x + b.w && a.x + a.w > b.x && a.y < b.y + b.h && a.y + a.h > b.y;
}

/** Return the bounding box of a line. @param {number[]} points @returns {Rect} */
function boundsOf(points) {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    left = Math.min(left, points[i]);
    right = Math.max(right, points[i]);
    top = Math.min(top, points[i + 1]);
    bottom = Math.max(bottom, points[i + 1]);
  }
  return { x: left, y: top, w: right - left || 1, h: bottom - top || 1 };
}

/**
 * Return what to draw in detail around the visible part: the largest boxes and the lines between them.
 * @param {Picture} picture
 * @param {Rect} sight in units of the drawing
 * @param {number} k px of a unit
 */
export function detailOf(picture, sight, k) {
  const area = {
    x: sight.x - AROUND * sight.w,
    y: sight.y - AROUND * sight.h,
    w: sight.w * (1 + 2 * AROUND),
    h: sight.h * (1 + 2 * AROUND),
  };
  let boxes = picture.boxes.filter((box) => box.w * k >= READABLE && meet(box, area));
  if (boxes.length > MOST_BOXES) {
    const sizes = boxes.map((box) => box.w * box.h).sort((a, b) => b - a);
    boxes = boxes.filter((box) => box.w * box.h >= sizes[MOST_BOXES]); // scopes stay before what is in them
    boxes = boxes.slice(0, 2 * MOST_BOXES); // of which many may be of one size
  }
  const ids = new Set(boxes.map((box) => box.id));
  const lines = [];
  for (const line of picture.lines) {
    if (!ids.has(line.source) || !ids.has(line.target) || !meet(boundsOf(line.points), area)) continue;
    lines.push(line);
    if (lines.length === MOST_LINES) break;
  }
  return { area, k, ids, picture: { ...picture, boxes, lines } };
}

/**
 * Return whether the drawn details also serve another visible part.
 * @param {{area: Rect, k: number}} detail
 * @param {Rect} sight
 * @param {number} k
 */
export function covers({ area, k: before }, sight, k) {
  const inside =
    area.x <= sight.x &&
    area.y <= sight.y &&
    area.x + area.w >= sight.x + sight.w &&
    area.y + area.h >= sight.y + sight.h;
  return inside && k / before < RESCALED && before / k < RESCALED;
}
