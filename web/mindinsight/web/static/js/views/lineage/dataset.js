// Dialog with the data pipeline of a run, from source to batches.

import { dialog } from "../../components/dialog.js";
import { empty } from "../../components/empty.js";
import { toast } from "../../components/toast.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/answers.js").Stage} Stage */
/** @typedef {import("../../core/dom.js").Child} Child */
/** @typedef {import("../../core/types.js").Failure} Failure */

/**
 * Request the data pipeline of a run and show it in a dialog, or show the error.
 * @param {import("../../core/types.js").App} app
 * @param {string} run
 */
export async function datasetDialog(app, run) {
  try {
    const { stages } = await app.api.get("v2/lineage/dataset", { run });
    show(app, run, stages);
  } catch (thrown) {
    const error = /** @type {Failure} */ (thrown);
    toast(app.t(error.key ?? "error.http", error.vars), { bad: true });
  }
}

/**
 * Open the dialog.
 * @param {import("../../core/types.js").App} app
 * @param {string} run
 * @param {Stage[]} stages
 */
function show(app, run, stages) {
  const list = h(
    "ol",
    { class: "stages" },
    stages.map((stage) =>
      h(
        "li",
        null,
        h(
          "h3",
          null,
          stage.name,
          stage.inputs > 1 && h("span", { class: "badge" }, app.t("lineage.inputs", { n: stage.inputs })),
        ),
        parameters(stage.parameters),
      ),
    ),
  );
  const body = stages.length ? list : empty({ title: app.t("lineage.no_dataset") });
  dialog({
    title: app.t("lineage.dataset_of", { run: app.selection.run(run)?.name ?? run }),
    body,
    close: app.t("common.close"),
    wide: true,
  });
}

/**
 * Create the list of an operation's settings. Empty ones are left out.
 * @param {Record<string, unknown>} values
 */
function parameters(values) {
  const entries = Object.entries(values).filter(
    ([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length),
  );
  return h(
    "dl",
    { class: "facts" },
    entries.map(([name, value]) => [h("dt", null, name), h("dd", null, readable(value))]),
  );
}

/**
 * Return the value of a JSON text. A text that only looks like JSON is returned in a list.
 * @param {string} text
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return [` ${text}`];
  }
}

/**
 * Create the content of a value: lists joined, objects as lists of names and values.
 * @param {unknown} value
 * @returns {Child}
 */
function readable(value) {
  if (Array.isArray(value)) return value.map((item, i) => [i ? ", " : "", readable(item)]);
  if (value !== null && typeof value === "object") {
    return h(
      "dl",
      { class: "facts" },
      Object.entries(value).map(([name, item]) => [h("dt", null, name), h("dd", null, readable(item))]),
    );
  }
  const text = String(value);
  return /^[[{]/.test(text) ? readable(parsed(text)) : text.replace(/^"(.*)"$/, "$1");
}
