// State of the page of one graph in the address.

import { idOf } from "../../core/names.js";

/**
 * @typedef {Object} State
 * @property {string} run
 * @property {string} tag
 * @property {string | null} view null until the graph is there, if nobody chose one
 * @property {boolean} chosen whether somebody chose the view
 * @property {string | null} scopes that are open, as in the address; null while they are as at first
 * @property {number[] | null} open the same as numbers, once the drawing is there
 * @property {number[]} flat scopes whose operators are drawn without the scopes between
 * @property {number | null} node selected
 * @property {string} sought path of a node that an address names by it, until it has been looked for
 * @property {number | null} outer a parameter or constant
 * @property {string | null} trace "up" or "down" from the node
 * @property {string} attribute shown in operators instead of their outputs
 * @property {boolean} plotly whether Plotly draws
 */

export const VIEWS = ["recorded", "simplified", "dataset"];

const MANY = 200; // open scopes from which the closed ones are written down
export const EVERYTHING = "all";

/**
 * Return the open scopes as text. If there are many, list the closed ones instead.
 * @param {Set<number>} open
 * @param {import("../../components/graph/shapes.js").Box[]} boxes drawn, scopes before what is in them
 */
export function scopesText(open, boxes) {
  if (open.size <= MANY) return [...open].sort((a, b) => a - b).join(",") || "0";
  const visible = new Set([0]);
  const closed = [];
  for (const { id, parent, count } of boxes) {
    if (!count || !visible.has(parent)) continue;
    if (open.has(id)) visible.add(id);
    else closed.push(`-${id}`);
  }
  return [EVERYTHING, ...closed].join(",");
}

/** Read the state from the address. @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  const number = (/** @type {string} */ key) => (url.get(key) === null ? null : Number(url.get(key)));
  const sought = Number.isNaN(number("node")) ? url.get("node", "") : "";
  const open = url.get("open");
  const numbered = open !== null || url.get("node") !== null || url.get("outer") !== null;
  const dumped = url.get("dump", "") !== ""; // of the whole training
  const named = url.get("view", "");
  // numbers of nodes in links from before there was a default view are those of the recorded graph
  const view = VIEWS.includes(named) ? named : numbered || dumped ? "recorded" : null;
  return {
    run: url.get("run") ? idOf(url.get("run", "")) : "",
    tag: url.get("tag", ""),
    view,
    chosen: VIEWS.includes(named),
    scopes: open,
    open: null,
    flat: url.get("flat", "").split(",").filter(Boolean).map(Number),
    node: sought ? null : number("node"),
    sought,
    outer: number("outer"),
    trace: url.get("trace"),
    attribute: url.get("attr", ""),
    plotly: url.get("draw") === "plotly",
  };
}

/**
 * Write the state to the address.
 * @param {import("../../core/url.js").Url} url
 * @param {State} state
 * @param {boolean} opened whether somebody chose what is open
 */
export function writeState(url, state, opened) {
  const { run, tag, view, chosen, scopes, flat, node, outer, trace, attribute, plotly } = state;
  url.set({
    run,
    tag,
    view: chosen || opened || node !== null || outer !== null ? view : null,
    open: opened ? scopes : null,
    flat: flat.join(",") || null,
    node,
    outer,
    trace,
    attr: attribute || null,
    draw: plotly ? "plotly" : null,
  });
}
