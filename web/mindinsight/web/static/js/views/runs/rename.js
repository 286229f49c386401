// Dialog that gives runs names to show in place of those of their directories.

import { button } from "../../components/button.js";
import { dialog } from "../../components/dialog.js";
import { MAX_NAME } from "../../components/runs/annotate.js";
import { change, ownName } from "../../components/runs/changes.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").Run} Run */

/**
 * Open the dialog that gives runs names in place of their directories. A rank is named after its job and has
 * no name of its own.
 * @param {import("../../core/types.js").App} app
 * @param {Run[]} runs
 */
export function renameDialog(app, runs) {
  const { t } = app;
  const named = runs.filter((run) => run.rank === null);
  const boxes = named.map((run) =>
    h("input", { type: "text", value: ownName(run), placeholder: run.directory, maxlength: MAX_NAME }),
  );
  const save = async () => {
    const names = boxes.map((box) => box.value.trim());
    const changes = named
      .map((run, i) => ({ run: run.id, name: names[i] }))
      .filter(({ name }, i) => name !== ownName(named[i]));
    const done = t("manage.renamed", { n: changes.length });
    if (!changes.length || (await change(app, changes, done))) box.close();
  };
  const rows = named.map((run, i) =>
    h("label", { class: "field" }, h("span", { class: "label" }, run.directory), boxes[i]),
  );
  const box = dialog({
    title: t("manage.rename"),
    close: t("common.close"),
    wide: true,
    body: [
      h("p", { class: "muted" }, t("manage.rename.how")),
      named.length < runs.length ? h("p", { class: "muted" }, t("manage.rename.ranks")) : null,
      ...rows,
    ],
    actions: [
      button(t("common.cancel"), () => box.close()),
      button(t("common.save"), save, { class: "primary", disabled: !named.length }),
    ],
  });
}
