// Open scopes, and flat ones: opening, closing with all inside, drawing without the scopes between.

import { toast } from "../../components/toast.js";
import { EVERYTHING } from "./single_state.js";

const MANY = 2000; // boxes whose numbers are too many for an address

/**
 * Numbers of the boxes that are drawn, for a request.
 * @param {import("../../components/graph/shapes.js").Box[]} boxes
 */
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
 * Open or close a scope; a scope alone in one that is opened opens too.
 * @param {import("./explorer.js").Explorer} explorer
 * @param {number} id
 * @returns {Promise<void>}
 */
export async function toggleScope(explorer, id) {
  const { canvas, state } = explorer;
  const box = canvas.boxes().find((candidate) => candidate.id === id);
  if (!box?.count) return undefined;
  const open = new Set(state.open);
  if (box.open) {
    descendants(canvas.boxes(), id).forEach((scope) => open.delete(scope));
    unflatten(state, [id]);
  } else open.add(id);
  return explorer.reopen(open, id, id, () => {
    if (box.open || box.count > 1) return explorer.select(id, true);
    const only = canvas.boxes().find((candidate) => candidate.parent === id);
    return only?.count ? toggleScope(explorer, only.id) : explorer.select(id, true);
  });
}

/**
 * Draw all operators of a scope without the scopes between, or with them again.
 * @param {import("./explorer.js").Explorer} explorer
 * @param {number} id
 */
export function flatten(explorer, id) {
  const { state } = explorer;
  const wasFlat = unflatten(state, [id]);
  if (!wasFlat) state.flat = [...state.flat, id];
  return explorer.reopen(new Set([...(state.open ?? []), id]), id, id, () => {
    if (!wasFlat && !state.flat.includes(id)) toast(explorer.app.t("graph.flat_large"));
    return explorer.select(id, true);
  });
}

/**
 * Scopes are drawn with the scopes inside them again; whether one of them was not.
 * @param {import("./single_state.js").State} state
 * @param {number[]} scopes
 */
export function unflatten(state, scopes) {
  const flat = state.flat.filter((scope) => !scopes.includes(scope));
  const changed = flat.length < state.flat.length;
  state.flat = flat;
  return changed;
}

/**
 * A scope and all that is drawn inside it; scopes come before what is in them.
 * @param {import("../../components/graph/shapes.js").Box[]} boxes
 * @param {number} id
 */
export function descendants(boxes, id) {
  const scopes = new Set([id]);
  for (const box of boxes) {
    if (scopes.has(box.parent)) scopes.add(box.id);
  }
  return [...scopes];
}
