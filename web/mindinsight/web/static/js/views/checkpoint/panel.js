// Side panel with the values of one tensor in any of the shown files.

import { iconButton } from "../../components/button.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { tensorFacts } from "../../components/dump/tensor_facts.js";
import { firstLook, ValueWindow } from "../../components/dump/value_window.js";
import { cellText } from "./timeline.js";

/** @typedef {import("../checkpoint.js").Checkpoints} Checkpoints */

/**
 * Create the panel with the values of the chosen tensor in `side`. `draw()` shows the tensor of the page's
 * state.
 * @param {Checkpoints} view
 * @param {HTMLElement} side
 */
export function tensorPanel(view, side) {
  const { app } = view;
  let look = firstLook("");
  /** @type {ValueWindow | null} */
  let values = null;
  const facts = h("div");

  const clear = () => {
    app.charts.removeAll(side);
    values?.end();
    values = null;
    look = { ...look, key: "" };
    side.hidden = true;
  };

  const build = (/** @type {string} */ key) => {
    const { state } = view;
    app.charts.removeAll(side);
    values?.end();
    look = { ...firstLook(key), mode: look.mode };
    values = new ValueWindow(app, {
      routes: "v2/dump/checkpoint",
      tensor: { file: state.at, name: state.tensor },
      look,
    });
    const close = iconButton("close", app.t("common.close"), () => view.change({ tensor: "", at: "" }));
    side.hidden = false;
    replace(
      side,
      h("header", { class: "row" }, h("h2", { class: "grow wrapped" }, state.tensor), close),
      fileChoice(view),
      h("section", { class: "dump-tensor" }, facts, values.element),
    );
    values.draw();
  };

  return {
    draw() {
      const { state } = view;
      if (!view.files().includes(state.at)) state.at = view.files().at(-1) ?? "";
      if (!state.tensor) return clear();
      const key = `${state.at} ${state.tensor}`;
      if (look.key !== key || !values) build(key);
      replace(facts, story(view));
    },
    end: clear,
  };
}

/** Create the choice of a file, or return null if there is only one. @param {Checkpoints} view */
function fileChoice(view) {
  const files = view.files();
  if (files.length < 2) return null;
  const label = (/** @type {string} */ id) =>
    view.state.mode === "timeline" ? view.series().find((saved) => saved.id === id)?.label : "";
  return select({
    label: view.app.t("dump.weights.file"),
    options: files.map((id) => ({ value: id, label: label(id) || id.slice(2) })),
    value: view.state.at,
    onchange: (at) => view.change({ at }),
  });
}

/** Create the statistics, or the statement about the tensor's change. @param {Checkpoints} view */
function story(view) {
  const { app, state } = view;
  const row = view.rows.find(({ name }) => name === state.tensor);
  if (!row) return null;
  if (state.mode === "tensors") {
    return tensorFacts(app, { statistics: row.statistics ?? null, damage: row.error ?? null });
  }
  if (state.mode === "compare") return h("p", null, app.t(`dump.weights.state.${row.state}`));
  const saved = view.series();
  const at = saved.findIndex(({ id }) => id === state.at);
  const broken = Number(row.non_finite?.[at]) > 0;
  return h(
    "p",
    { class: broken ? "strange" : null },
    cellText(app, /** @type {import("./timeline.js").Row} */ (row), at, saved),
  );
}
