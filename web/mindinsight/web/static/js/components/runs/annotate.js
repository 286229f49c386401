// Dialog for a run's note, labels and colour, which the server stores in the workspace.

import { COLOURS } from "../../core/colours.js";
import { button } from "../button.js";
import { dialog } from "../dialog.js";
import { toast } from "../toast.js";
import { h } from "../../core/dom.js";

/**
 * Open the dialog for a run.
 * @param {import("../../core/types.js").App} app
 * @param {import("../../core/types.js").Run} run
 */
export function annotateDialog(app, run) {
  const { t } = app;
  const note = h("textarea", { rows: 5, value: run.note, maxlength: 20000 });
  const labels = h("input", {
    type: "text",
    value: run.labels.join(", "),
    placeholder: t("runs.labels.how"),
  });
  const palette = ["", ...Array.from({ length: COLOURS }, (_, i) => app.theme.colour(`--run-${i + 1}`))];
  const choices = palette.includes(run.chosen) ? palette : [...palette, run.chosen];
  const colours = choices.map((colour) => swatch(app, colour, colour === run.chosen));

  const save = async () => {
    const colour = colours.find(({ input }) => input.checked)?.colour ?? "";
    const words = labels.value
      .split(/[,，]/)
      .map((/** @type {string} */ label) => label.trim())
      .filter(Boolean);
    if (await keep(app, run.id, { note: note.value, labels: words, colour })) box.close();
  };
  const box = dialog({
    title: run.name,
    close: t("common.close"),
    body: [
      h("label", { class: "field" }, h("span", { class: "label" }, t("runs.col.note")), note),
      h("label", { class: "field" }, h("span", { class: "label" }, t("runs.col.labels")), labels),
      h(
        "fieldset",
        { class: "field" },
        h("legend", { class: "label" }, t("runs.colour")),
        h(
          "div",
          { class: "row wrap" },
          colours.map(({ element }) => element),
        ),
      ),
    ],
    actions: [
      button(t("common.cancel"), () => box.close()),
      button(t("common.save"), save, { class: "primary" }),
    ],
  });
}

/**
 * Create the choice of one colour.
 * @param {import("../../core/types.js").App} app
 * @param {string} colour
 * @param {boolean} checked
 */
function swatch(app, colour, checked) {
  const input = h("input", { type: "radio", name: "colour", checked, class: "unseen" });
  const name = colour || app.t("runs.colour.own");
  const element = h(
    "label",
    { class: "colour-choice", title: name },
    input,
    h("span", { class: colour ? "swatch" : "swatch off", style: { "--swatch": colour } }),
    h("span", { class: "unseen" }, name),
  );
  return { input, element, colour };
}

/**
 * Store something about a run. Return whether it was stored; otherwise show the error.
 * @param {import("../../core/types.js").App} app
 * @param {string} run
 * @param {Parameters<import("../../core/selection.js").Selection["annotate"]>[1]} fields
 */
export async function keep(app, run, fields) {
  try {
    await app.selection.annotate(run, fields);
    return true;
  } catch (error) {
    const failure = /** @type {import("../../core/types.js").Failure} */ (error);
    toast(app.t(failure.key ?? "error.http", failure.vars), { bad: true });
    return false;
  }
}
