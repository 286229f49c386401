// Pager of a slice that is larger than the window.

import { button } from "../../components/button.js";
import { windowText } from "../../components/slice_window.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/answers.js").TensorSlice} TensorSlice */
/** @typedef {import("../../core/types.js").App} App */

const WINDOW = 200;

/**
 * Create the position of the window with buttons that move it.
 * @param {App} app
 * @param {TensorSlice} slice
 * @param {(side: "top" | "left", by: number) => void} move
 */
export function pager(app, slice, move) {
  const { t } = app;
  const [rows, columns] = slice.window;
  const step = (/** @type {"top" | "left"} */ side, /** @type {number} */ by) => move(side, by * WINDOW);
  const position = windowText(app, slice);
  return h(
    "div",
    { class: "row small" },
    h("span", { class: "grow" }, position),
    slice.top > 0 && button("↑", () => step("top", -1), { "aria-label": t("tensor.up") }),
    slice.top + rows < slice.rows && button("↓", () => step("top", 1), { "aria-label": t("tensor.down") }),
    slice.left > 0 && button("←", () => step("left", -1), { "aria-label": t("tensor.left") }),
    slice.left + columns < slice.columns &&
      button("→", () => step("left", 1), { "aria-label": t("tensor.right") }),
  );
}
