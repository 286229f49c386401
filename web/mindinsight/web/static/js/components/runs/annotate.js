// Dialog for a run's name, note, labels, group and colour, which the server stores in the workspace.

import { COLOURS } from "../../core/colours.js";
import { button } from "../button.js";
import { dialog } from "../dialog.js";
import { change, ownName } from "./changes.js";
import { h } from "../../core/dom.js";

export const MAX_NAME = 200; // characters that the server stores

/**
 * Open the dialog for a run's name, note, labels, group and colour.
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
  const name = h("input", {
    type: "text",
    value: ownName(run),
    placeholder: run.directory,
    maxlength: MAX_NAME,
  });
  const group = h("input", { type: "text", value: run.group, maxlength: MAX_NAME });
  const colours = swatches(app, run.chosen);

  const save = async () => {
    const colour = colours.find(({ input }) => input.checked)?.colour ?? "";
    const fields = { note: note.value, labels: labelsIn(labels.value), group: group.value.trim(), colour };
    const changed = { run: run.id, name: name.value.trim(), ...fields };
    if (await change(app, [changed], t("manage.saved", { run: run.name }))) box.close();
  };
  const box = dialog({
    title: run.name,
    close: t("common.close"),
    body: [
      field(t("manage.name"), name),
      field(t("runs.col.note"), note),
      field(t("runs.col.labels"), labels),
      field(t("runs.col.group"), group),
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

/** Create a label with a text and the control. @param {string} label @param {HTMLElement} control */
export function field(label, control) {
  return h("label", { class: "field" }, h("span", { class: "label" }, label), control);
}

/** Return the labels in a text, where commas separate them. @param {string} text */
export function labelsIn(text) {
  return text
    .split(/[,，]/)
    .map((label) => label.trim())
    .filter(Boolean);
}

/**
 * Create the choice of a colour. The first option is the run's colour in the palette.
 * @param {import("../../core/types.js").App} app
 * @param {string} chosen
 */
export function swatches(app, chosen) {
  const palette = ["", ...Array.from({ length: COLOURS }, (_, i) => app.theme.colour(`--run-${i + 1}`))];
  const choices = palette.includes(chosen) ? palette : [...palette, chosen];
  return choices.map((colour) => swatch(app, colour, colour === chosen));
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
