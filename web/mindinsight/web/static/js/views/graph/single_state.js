// State of the page of one graph in the address.

/**
 * @typedef {Object} State
 * @property {string} run
 * @property {string} tag
 * @property {string | null} view null until the graph is there, if nobody chose one
 * @property {boolean} chosen whether somebody chose the view
 * @property {number[] | null} open scopes; null while they are as at first
 * @property {number | null} node selected
 * @property {number | null} outer a parameter or constant
 * @property {string | null} trace "up" or "down" from the node
 * @property {string} attribute shown in operators instead of their outputs
 * @property {boolean} plotly whether Plotly draws
 */

export const VIEWS = ["recorded", "simplified", "dataset"];

/** @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  const number = (/** @type {string} */ key) => (url.get(key) === null ? null : Number(url.get(key)));
  const open = url.get("open");
  const numbered = open !== null || url.get("node") !== null || url.get("outer") !== null;
  const dumped = url.get("dump", "") !== ""; // of the whole training
  const named = url.get("view", "");
  // numbers of nodes in links from before there was a default view are those of the recorded graph
  const view = VIEWS.includes(named) ? named : numbered || dumped ? "recorded" : null;
  return {
    run: url.get("run", ""),
    tag: url.get("tag", ""),
    view,
    chosen: VIEWS.includes(named),
    open: open === null ? null : open.split(",").filter(Boolean).map(Number),
    node: number("node"),
    outer: number("outer"),
    trace: url.get("trace"),
    attribute: url.get("attr", ""),
    plotly: url.get("draw") === "plotly",
  };
}

/**
 * @param {import("../../core/url.js").Url} url
 * @param {State} state
 * @param {boolean} opened whether somebody chose what is open
 */
export function writeState(url, state, opened) {
  const { run, tag, view, chosen, open, node, outer, trace, attribute, plotly } = state;
  url.set({
    run,
    tag,
    view: chosen || opened || node !== null || outer !== null ? view : null,
    open: open && opened ? open.join(",") || "0" : null,
    node,
    outer,
    trace,
    attr: attribute || null,
    draw: plotly ? "plotly" : null,
  });
}
