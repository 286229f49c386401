// Overview tile of tensors: the first cells of the newest one, coloured by value.

import { h, replace } from "../../core/dom.js";
import { mainTag } from "../../components/main_tag.js";

const ROWS = 6;
const COLUMNS = 6;

/** @type {import("../../core/types.js").TileKind} */
const tensorTile = {
  kind: "tensor",
  title: "nav.tensor",
  view: "tensor",
  has: (run) => Boolean(run.kinds.tensor),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/tags", { kind: "tensor", run: run.id }, { signal });
    const tag = mainTag(tags, /.*/);
    const steps = await app.api.get("v2/tensor/steps", { run: run.id, tag }, { signal });
    const column = app.api.column(steps.step);
    const row = column.length - 1;
    const slice = await app.api.get("v2/tensor/slice", { run: run.id, tag, row }, { signal });
    return (box, figures) => {
      const shape = `${slice.type} [${slice.shape.join(", ")}]`;
      replace(
        figures,
        h("span", { class: "mono ellipsis", title: tag }, tag),
        h("span", null, app.t("overview.at", { step: column[row] })),
        h("span", { class: "mono" }, shape),
      );
      replace(box, cells(app, slice));
    };
  },
};

/**
 * Create the table of cells.
 * @param {import("../../core/types.js").App} app
 * @param {import("../../core/answers.js").Answer<"v2/tensor/slice">} slice
 */
function cells(app, slice) {
  const values = app.api.column(slice.values);
  const [rows, columns] = slice.window;
  const finite = Array.from(values).map(Number).filter(Number.isFinite);
  const most = Math.max(...finite.map(Math.abs), 0) || 1;
  const cell = (/** @type {number} */ i, /** @type {number} */ j) => {
    const value = values[i * columns + j];
    const share = Math.round((Math.abs(Number(value)) / most) * 45) || 0;
    return h(
      "td",
      { style: { background: `color-mix(in srgb, var(--accent) ${share}%, transparent)` } },
      typeof value === "number" ? app.format.number(value, 3) : String(value),
    );
  };
  const more = columns > COLUMNS || slice.columns > COLUMNS ? h("td", { class: "muted" }, "…") : null;
  const body = Array.from({ length: Math.min(rows, ROWS) }, (_, i) =>
    h(
      "tr",
      null,
      Array.from({ length: Math.min(columns, COLUMNS) }, (_cell, j) => cell(i, j)),
      more?.cloneNode(true),
    ),
  );
  return h("table", { class: "cells number" }, h("tbody", null, body));
}

export const tiles = [tensorTile];
