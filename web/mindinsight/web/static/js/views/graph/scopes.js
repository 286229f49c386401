// Which scopes are open.

/**
 * A scope and all that is drawn inside it; scopes come before what is in them.
 * @param {import("./shapes.js").Box[]} boxes
 * @param {number} id
 */
export function descendants(boxes, id) {
  const found = new Set([id]);
  for (const box of boxes) {
    if (found.has(box.parent)) found.add(box.id);
  }
  return [...found];
}
