// Head of a table: one row of column names.

import { h } from "../core/dom.js";

/**
 * Create the head of a table: one row with a cell for each name.
 * @param {import("../core/dom.js").Child[]} names
 * @param {number[]} [numbers] columns that hold numbers
 */
export const tableHead = (names, numbers = []) =>
  h(
    "thead",
    null,
    h(
      "tr",
      null,
      names.map((name, i) => h("th", { scope: "col", class: numbers.includes(i) ? "number" : null }, name)),
    ),
  );
