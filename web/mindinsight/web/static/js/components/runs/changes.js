// Changes of runs, stored together on the server, each with its undo.

import { toast } from "../toast.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../core/selection.js").RunChange} RunChange */

const SECONDS = 20; // in which a person notices a mistake

/** Return the name that a person gave a run, or "". @param {Run} run */
export const ownName = (run) => (run.name === run.directory ? "" : run.name);

/**
 * Return the changes that bring back what other changes replace.
 * @param {App} app
 * @param {RunChange[]} changes
 * @returns {RunChange[]}
 */
export function undoOf(app, changes) {
  return changes.flatMap(({ run: id, ...fields }) => {
    const run = app.selection.run(id);
    if (!run) return [];
    const before = { ...run, name: ownName(run), colour: run.chosen };
    const names = /** @type {(keyof typeof before & keyof typeof fields)[]} */ (Object.keys(fields));
    return [{ run: id, ...Object.fromEntries(names.map((name) => [name, before[name]])) }];
  });
}

/**
 * Store changes and offer to undo them. Return whether they were stored; otherwise show the error.
 * @param {App} app
 * @param {RunChange[]} changes
 * @param {string} text what was done
 */
export async function change(app, changes, text) {
  const before = undoOf(app, changes);
  const stored = await attempt(app, () => app.selection.annotate(changes));
  if (stored) offerUndo(app, text, () => attempt(app, () => app.selection.annotate(before)));
  return stored;
}

/**
 * Say what was done, with a button that undoes it.
 * @param {App} app
 * @param {string} text
 * @param {() => void} undo
 */
export function offerUndo(app, text, undo) {
  toast(text, { seconds: SECONDS, action: { label: app.t("manage.undo"), onclick: undo } });
}

/**
 * Do something on the server. Return whether it was done; otherwise show the error.
 * @param {App} app
 * @param {() => Promise<unknown>} action
 */
export async function attempt(app, action) {
  try {
    await action();
    return true;
  } catch (error) {
    const failure = /** @type {import("../../core/types.js").Failure} */ (error);
    toast(app.t(failure.key ?? "error.http", failure.vars), { bad: true });
    return false;
  }
}
