// Changes of runs, stored together on the server, each with its undo.

import { toast } from "../toast.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../core/selection.js").RunChange} RunChange */

const SECONDS = 20; // in which a person notices a mistake

/** Return the name that a person gave a run, or "". @param {Run} run */
export const ownName = ({ name, given = name, directory }) => (given === directory ? "" : given);

/**
 * Return what runs have now in the fields of changes. Runs that are gone are left out.
 * @param {App} app
 * @param {RunChange[]} changes
 * @returns {RunChange[]}
 */
function valuesOf(app, changes) {
  return changes.flatMap(({ run: id, ...fields }) => {
    const run = app.selection.run(id);
    if (!run) return [];
    const known = { ...run, name: ownName(run), colour: run.chosen };
    const names = /** @type {(keyof typeof known & keyof typeof fields)[]} */ (Object.keys(fields));
    return [{ run: id, ...Object.fromEntries(names.map((name) => [name, known[name]])) }];
  });
}

/**
 * Return the changes that undo a change, and the number of runs that keep newer values. Only labels that the
 * change added or removed are undone, because other people may have changed labels since.
 * @param {RunChange[]} before values of runs before the change
 * @param {RunChange[]} after the same runs and fields after it
 * @param {RunChange[]} now
 */
export function undoOf(before, after, now) {
  let newer = 0;
  const changes = before.flatMap((old) => {
    const [set, last] = [after, now].map((runs) => runs.find(({ run }) => run === old.run));
    if (!set || !last) return [];
    const { run, labels, ...fields } = old;
    const names = /** @type {(keyof typeof fields)[]} */ (Object.keys(fields));
    const same = names.filter((name) => last[name] === set[name]);
    if (same.length < names.length) newer++;
    /** @type {RunChange} */
    const back = { run, ...Object.fromEntries(same.map((name) => [name, old[name]])) };
    if (labels) back.labels = labelsBack(labels, set.labels ?? [], last.labels ?? []);
    return [back];
  });
  return { changes: changes.filter((back) => Object.keys(back).length > 1), newer };
}

/** Return the labels of `now` without those that a change added, and with those that it removed. */
function labelsBack(
  /** @type {string[]} */ before,
  /** @type {string[]} */ after,
  /** @type {string[]} */ now,
) {
  const others = now.filter((label) => before.includes(label) || !after.includes(label));
  const removed = before.filter((label) => !after.includes(label) && !now.includes(label));
  return [...others, ...removed];
}

/**
 * Store changes and offer to undo them. Return whether they were stored; otherwise show the error.
 * @param {App} app
 * @param {RunChange[]} changes
 * @param {string} text what was done
 */
export async function change(app, changes, text) {
  const before = valuesOf(app, changes);
  const stored = await attempt(app, () => app.selection.annotate(changes));
  const after = valuesOf(app, changes);
  const undo = async () => {
    await app.selection.refresh();
    const { changes: back, newer } = undoOf(before, after, valuesOf(app, changes));
    if (back.length) await app.selection.annotate(back);
    if (newer) toast(app.t("manage.undo.newer", { n: newer }));
  };
  if (stored) offerUndo(app, text, () => attempt(app, undo));
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
