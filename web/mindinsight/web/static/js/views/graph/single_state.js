// State of the page of one graph in the address.

/**
 * @typedef {Object} State
 * @property {string} run
 * @property {string} tag
 * @property {string} view
 * @property {number[] | null} open scopes; null while they are as at first
 * @property {number | null} node selected
 * @property {number | null} outer a parameter or constant
 * @property {string | null} trace "up" or "down" from the node
 */

export const VIEWS = ["recorded", "simplified", "dataset"];

/** @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  const number = (/** @type {string} */ key) => (url.get(key) === null ? null : Number(url.get(key)));
  const view = url.get("view", "recorded");
  const open = url.get("open");
  return {
    run: url.get("run", ""),
    tag: url.get("tag", ""),
    view: VIEWS.includes(view) ? view : "recorded",
    open: open === null ? null : open.split(",").filter(Boolean).map(Number),
    node: number("node"),
    outer: number("outer"),
    trace: url.get("trace"),
  };
}

/**
 * @param {import("../../core/url.js").Url} url
 * @param {State} state
 * @param {boolean} opened whether somebody chose what is open
 */
export function writeState(url, { run, tag, view, open, node, outer, trace }, opened) {
  url.set({
    run,
    tag,
    view: view === "recorded" ? null : view,
    open: open && opened ? open.join(",") || "0" : null,
    node,
    outer,
    trace,
  });
}
