// Order of scalars in the columns: the most common ones first.

import { latest } from "../../core/latest.js";
import { byCoverage, joinTags, titleOf } from "./joined.js";

/** @typedef {import("./joined.js").TagRow} TagRow */

/**
 * Create the order of the scalars of all runs, most common first. `load(ids)` orders by the given runs
 * instead, or by all again for null.
 * @param {import("../../core/types.js").App} app
 * @param {Element} element what the values are shown in
 */
export function createOrder(app, element) {
  const requests = latest(element);
  /** Tags behind a joined name. @type {Map<string, string[]>} */
  let joined = new Map();
  /** @type {string[]} */
  let all = [];
  /** Of the runs that a search has found. @type {string[] | null} */
  let found = null;

  return {
    /** Names for columns; tags of one meaning are one. */
    names: () => found ?? all,

    /** The tags behind the column with this heading; undefined if there is none. @param {string} heading */
    column: (heading) => [...joined].find(([name]) => titleOf(name) === heading)?.[1],

    /** The tags behind the name of a column. @param {string} name */
    members: (name) => joined.get(name) ?? [name],

    /** The tags of all runs. @param {TagRow[]} rows */
    take(rows) {
      const groups = joinTags(rows);
      joined = new Map(groups.map(({ name, members }) => [name, members]));
      all = byCoverage(groups).map(({ name }) => name);
    },

    /** Order by what these runs have; by all runs for null. @param {string[] | null} ids */
    async load(ids) {
      if (!ids) {
        requests.end();
        found = null;
        return;
      }
      await requests.ask(
        (signal) => app.api.get("v2/tags", { kind: "scalar", brief: true, run: ids }, { signal }),
        (response) => (found = byCoverage(joinTags(response.tags)).map(({ name }) => name)),
        () => (found = null),
      );
    },
  };
}
