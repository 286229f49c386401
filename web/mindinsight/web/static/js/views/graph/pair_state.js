// State of the comparison in the address.

import { idOf } from "../../core/names.js";

/** @typedef {{run: string, tag: string}} Chosen */
/**
 * @typedef {Object} State
 * @property {Chosen[]} sides the left graph and the right one
 * @property {string} view
 * @property {number[] | null} open scopes of the left graph; null while it is as at first
 * @property {number[]} open2 scopes of the right graph that have no partner
 * @property {number | null} node selected in the left graph
 * @property {number | null} node2 or in the right one
 */

export const VIEWS = ["recorded", "simplified", "dataset"];

/** Read the state from the address. @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  const list = (/** @type {string} */ key) => url.get(key, "").split(",").filter(Boolean).map(Number);
  const number = (/** @type {string} */ key) => (url.get(key) === null ? null : Number(url.get(key)));
  const sideOf = (/** @type {string} */ end) => ({
    run: url.get(`run${end}`) ? idOf(url.get(`run${end}`, "")) : "",
    tag: url.get(`tag${end}`, ""),
  });
  const view = url.get("view", "recorded");
  return {
    sides: [sideOf(""), sideOf("2")],
    view: VIEWS.includes(view) ? view : "recorded",
    open: url.get("open") === null ? null : list("open"),
    open2: list("open2"),
    node: number("node"),
    node2: number("node2"),
  };
}

/** Write the state to the address. @param {import("../../core/url.js").Url} url @param {State} state */
export function writeState(url, { sides: [left, right], view, open, open2, node, node2 }) {
  url.set({
    run: left.run,
    tag: left.tag,
    run2: right.run,
    tag2: right.tag,
    view: view === "recorded" ? null : view,
    open: open && (open.join(",") || "0"),
    open2: open && open2.join(","),
    node,
    node2,
  });
}
