// Head of a table: one row of column names.

import { h } from "../core/dom.js";

/** @param {import("../core/dom.js").Child[]} names @param {number[]} [numbers] columns that hold numbers */
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
