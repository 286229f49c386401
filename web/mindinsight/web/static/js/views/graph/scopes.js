// Set of open scopes: opening, and closing with all inside.

import { EVERYTHING } from "./single_state.js";

const MANY = 2000; // boxes whose numbers are too many for an address

/** Numbers of the boxes that are drawn, for a request. @param {import("./shapes.js").Box[]} boxes */
export function drawnText(boxes) {
  return boxes.length > MANY ? EVERYTHING : boxes.map((box) => box.id).join(",");
}

/** Open every scope of a graph. @param {import("./explorer.js").Explorer} explorer */
export function openAll(explorer) {
  const { canvas, state } = explorer;
  state.scopes = EVERYTHING;
  explorer.opened = true;
  canvas.wait(true);
  return explorer.pointing.ask(
    () => explorer.draw(),
    (drawn) => drawn && explorer.select(state.node, state.node !== null),
  );
}

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
