// Dialogs that move runs to the trash beside their base directory, and back.

import { button } from "../../components/button.js";
import { dialog } from "../../components/dialog.js";
import { loading } from "../../components/empty.js";
import { attempt, offerUndo } from "../../components/runs/changes.js";
import { toast } from "../../components/toast.js";
import { get, send } from "../../core/api.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {{moved: string[], refused: Record<string, {key: string, why?: string}>}} Moved */

const LISTED = 12; // names in the dialog, and runs that stay in a message

/**
 * Open the dialog that moves runs to the trash beside their base directory.
 * @param {App} app
 * @param {Run[]} runs
 */
export function trashDialog(app, runs) {
  const { t } = app;
  const confirm = () => {
    box.close();
    attempt(app, () => discard(app, runs));
  };
  const names = runs.slice(0, LISTED).map((run) => h("li", null, run.name));
  const more = runs.length - LISTED;
  const box = dialog({
    title: t("manage.delete.title", { n: runs.length }),
    close: t("common.close"),
    body: [
      h("p", null, t("manage.delete.how")),
      h("ul", null, names, more > 0 ? h("li", { class: "muted" }, t("manage.more", { n: more })) : null),
    ],
    actions: [
      button(t("common.cancel"), () => box.close()),
      button(t("manage.delete.confirm"), confirm, { class: "primary" }),
    ],
  });
}

/** Move runs to the trash and offer to move them back. @param {App} app @param {Run[]} runs */
async function discard(app, runs) {
  /** @type {Moved & {stamp: string}} */
  const answer = await send("POST", "v2/runs/trash", { runs: runs.map(({ id }) => id) });
  const { moved, stamp } = answer;
  const restore = async () =>
    sayRefused(app, await send("POST", "v2/runs/trash/restore", { runs: moved, stamp }));
  if (moved.length) {
    offerUndo(app, app.t("manage.deleted", { n: moved.length }), () => attempt(app, restore));
  }
  sayRefused(app, answer);
}

/** Open the list of deleted runs, from which they are restored. @param {App} app */
export function openTrash(app) {
  const { t, format } = app;
  const list = h("ul", { class: "trash-list" }, loading(t("common.loading")));
  dialog({ title: t("trash.title"), body: list, close: t("common.close"), wide: true });
  const read = () =>
    latest(list).ask(
      (signal) => get("v2/runs/trash", {}, { signal }),
      ({ runs }) => {
        const rows = runs.map(({ run, stamp, deleted }) =>
          h(
            "li",
            { class: "row" },
            h("span", { class: "grow" }, run.slice(2)),
            h("span", { class: "muted small" }, t("trash.deleted", { time: format.time(deleted) })),
            button(t("trash.restore"), () => restore(run, stamp), {
              "aria-label": t("trash.restore_run", { run: run.slice(2) }),
            }),
          ),
        );
        replace(list, rows.length ? rows : h("li", { class: "muted" }, t("trash.empty")));
      },
    );
  const restore = (/** @type {string} */ run, /** @type {string} */ stamp) =>
    attempt(app, async () => {
      sayRefused(app, await send("POST", "v2/runs/trash/restore", { runs: [run], stamp }));
      await read();
    });
  return read();
}

/** Say which runs stay where they are, and why. @param {App} app @param {Moved} answer */
function sayRefused({ t }, { refused }) {
  const reasons = Object.entries(refused);
  for (const [run, { key, ...vars }] of reasons.slice(0, LISTED)) {
    toast(`${run.slice(2) || "."}: ${t(key, vars)}`, { bad: true, seconds: 20 });
  }
}
