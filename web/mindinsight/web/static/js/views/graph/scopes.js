// Set of open scopes: opening, and closing with all inside.

/**
 * A scope and all that is drawn inside it; scopes come before what is in them.
 * @param {import("./shapes.js").Box[]} boxes
 * @param {number} id
 */
export function descendants(boxes, id) {
  const scopes = new Set([id]);
  for (const box of boxes) {
    if (scopes.has(box.parent)) scopes.add(box.id);
  }
  return [...scopes];
}
