// Text with the rows and columns of a slice that a table shows.

/** @typedef {import("../core/types.js").App} App */

/**
 * Return the text that names the rows and columns of a slice that its table shows.
 * @param {App} app
 * @param {{rows: number, columns: number, window: number[], top: number, left: number}} slice its size, and
 *   the window of it that came
 */
export function windowText(app, slice) {
  const [rows, columns] = slice.window;
  if (!rows || !columns) return app.t("tensor.empty");
  return app.t("tensor.window", {
    top: slice.top,
    bottom: slice.top + rows - 1,
    rows: slice.rows,
    left: slice.left,
    right: slice.left + columns - 1,
    columns: slice.columns,
  });
}
