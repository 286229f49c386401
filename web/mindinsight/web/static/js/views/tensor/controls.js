// Toolbar of the tensor page: tag, step, slice, and number format.

import { segments } from "../../components/button.js";
import { check, select, slider } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { composed, splitDims, stepped } from "./dims.js";
import { MODES } from "./state.js";

/** @typedef {import("../tensor.js").Tensors} Tensors */

/**
 * Create the toolbar of the tensor page: tag, step, slice and number format. `tell()` updates it.
 * @param {Tensors} view
 */
export function toolbar(view) {
  const { state } = view;
  const saved = h("div", { class: "row" });
  const slice = state.mode === "distribution" ? null : sliceControls(view);
  const move = state.mode === "distribution" ? null : stepControl(view);
  const tell = () => {
    replace(saved, downloads(view));
    slice?.tell();
    if (!view.steps) return;
    move?.setValues(view.steps.step);
    move?.set(view.steps.step[view.row()]);
  };
  tell();
  const numbers = state.mode === "table" && numberControls(view);
  const elements = [
    h("div", { class: "toolbar" }, choices(view)),
    h("div", { class: "toolbar" }, move, slice?.element, numbers, saved),
  ];
  return { elements, tell };
}

/** Create the choice of view, tensor and run. @param {Tensors} view */
function choices(view) {
  const { app, state, steps } = view;
  const { t } = app;
  return [
    segments({
      label: t("tensor.mode"),
      options: MODES.map((value) => ({ value, label: t(`tensor.mode.${value}`) })),
      value: state.mode,
      onchange: (mode) => view.change({ mode }),
    }),
    select({
      label: t("tensor.tag"),
      options: view.tags.map(({ tag }) => ({ value: tag, label: tag })),
      value: state.tag,
      onchange: (tag) => view.choose({ tag }),
    }),
    select({
      label: t("tensor.run"),
      options: view.holders().map((id) => ({ value: id, label: app.selection.run(id)?.name ?? id })),
      value: state.run,
      onchange: (run) => view.choose({ run }),
    }),
    steps && h("span", { class: "badge" }, `${steps.type} [${steps.shape.join(", ")}]`),
  ];
}

/** Create the controls of the number format. @param {Tensors} view */
function numberControls(view) {
  const { app, state } = view;
  const digits = slider({
    label: app.t("tensor.digits"),
    min: 0,
    max: 12,
    step: 1,
    value: state.digits,
    onchange: (value) => view.change({ digits: value }),
  });
  const scientific = check({
    label: app.t("tensor.scientific"),
    checked: state.scientific,
    onchange: (on) => view.change({ scientific: on }),
  });
  return [digits, scientific];
}

/** Create the slider of steps. The newest step is followed; any other stays. @param {Tensors} view */
function stepControl(view) {
  const values = view.steps?.step ?? new Float64Array();
  return slider({
    label: view.app.t("tensor.step"),
    values,
    value: values[view.row()],
    delay: 80,
    onchange: (step) => view.change({ at: step === values.at(-1) ? null : step }),
  });
}

/** Create one input per dimension and one for the whole slice. @param {Tensors} view */
function sliceControls(view) {
  const { app, steps } = view;
  const { t } = app;
  const take = (/** @type {string} */ dims) => view.change({ dims, top: 0, left: 0 });
  /** @type {HTMLInputElement} */
  const text = h("input", {
    type: "text",
    class: "mono",
    "aria-label": t("tensor.dims"),
    title: t("tensor.dims_how"),
    onchange: () => take(text.value.trim()),
  });
  /** @type {HTMLInputElement[]} */
  const boxes = (steps?.shape ?? []).map((size, i) => {
    const name = t("tensor.dim", { n: i, last: size - 1 });
    const apply = () => take(composed(boxes.map((input) => input.value)));
    const onkeydown = (/** @type {KeyboardEvent} */ event) => {
      const next = stepped(box.value, event.key, size);
      if (next === null) return;
      event.preventDefault();
      box.value = next;
      apply();
    };
    const box = h("input", {
      type: "text",
      class: "mono dim",
      "aria-label": name,
      title: name,
      spellcheck: "false",
      onchange: apply,
      onkeydown,
    });
    return box;
  });
  const tell = () => {
    const { dims } = view.state;
    text.value = dims;
    const dimensions = splitDims(dims);
    boxes.forEach((box, i) => (box.value = dimensions[i] ?? ""));
  };
  const element = h(
    "div",
    { class: "row wrap" },
    h("label", { class: "field inline" }, h("span", { class: "label" }, t("tensor.dims")), text),
    h("span", { class: "row dims", role: "group", "aria-label": t("tensor.dimensions") }, boxes),
  );
  return { element, tell };
}

/** @param {Tensors} view */
function downloads(view) {
  const { app, state } = view;
  return ["npy", "csv"].map((format) =>
    h(
      "a",
      {
        class: "button",
        href: app.api.build("v2/tensor/download", {
          run: state.run,
          tag: state.tag,
          row: view.row(),
          dims: format === "csv" ? state.dims : null,
          format,
        }),
        download: "",
      },
      format.toUpperCase(),
    ),
  );
}
