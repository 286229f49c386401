// Open and flattened scopes of a drawing.

import { toast } from "../../components/toast.js";
import { COPY } from "../../core/copy.js";
import { EVERYTHING } from "./single_state.js";

const MANY = 2000; // boxes whose numbers are too many for an address

/**
 * Return the ids of the drawn boxes for a request; "all" if there are more than 2,000.
 * @param {import("../../components/graph/shapes.js").Box[]} boxes
 */
export function drawnText(boxes) {
  return boxes.length > MANY ? EVERYTHING : boxes.map((box) => box.id).join(",");
}

/** Open every scope. @param {import("./explorer.js").Explorer} explorer */
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
 * Open or close a scope. A single scope inside an opened one is opened too. A copy without a server has only
 * drawings of one open scope and its ancestors, so the others are closed.
 * @param {import("./explorer.js").Explorer} explorer
 * @param {number} id
 * @returns {Promise<unknown>}
 */
export async function toggleScope(explorer, id) {
  const { canvas, state } = explorer;
  const box = canvas.boxes().find((candidate) => candidate.id === id);
  if (!box?.count) return undefined;
  const open = new Set(COPY ? ancestors(canvas.boxes(), box) : state.open);
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
 * Draw the operators of a scope without the scopes between, or with them again.
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
 * End the flattening of scopes. Return whether one of them was flattened.
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
 * Return the ids of the scopes around a box.
 * @param {import("../../components/graph/shapes.js").Box[]} boxes
 * @param {import("../../components/graph/shapes.js").Box} box
 * @returns {number[]}
 */
function ancestors(boxes, box) {
  const parent = boxes.find(({ id }) => id === box.parent);
  return parent ? [parent.id, ...ancestors(boxes, parent)] : [];
}

/**
 * Return a scope and everything drawn inside it.
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
