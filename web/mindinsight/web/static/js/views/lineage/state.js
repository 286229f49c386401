// State of the lineage page in the address, without brushes and ticked runs.

/**
 * @typedef {Object} State
 * @property {string} objective
 * @property {string[]} axes
 * @property {Set<string>} logs
 * @property {string} sort
 * @property {boolean} down
 * @property {string} x
 * @property {string} y
 * @property {string | null} tint
 * @property {boolean} matrix of all pairs instead of one
 * @property {boolean} all runs, not only the trials of the study
 */

/** Read the state from the address. @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  return {
    objective: url.get("o", ""),
    axes: url.all("axis"),
    logs: new Set(url.all("log")),
    sort: url.get("sort", ""),
    down: url.get("desc") === "1",
    x: url.get("px", ""),
    y: url.get("py", ""),
    tint: url.get("tint"),
    matrix: url.get("matrix") === "1",
    all: url.get("among") === "all",
  };
}

/** Write the state to the address. @param {import("../../core/url.js").Url} url @param {State} state */
export function writeState(url, state) {
  url.set({
    o: state.objective,
    axis: state.axes,
    log: [...state.logs],
    sort: state.sort,
    desc: state.down ? "1" : null,
    px: state.x,
    py: state.y,
    tint: state.tint,
    matrix: state.matrix ? "1" : null,
    among: state.all ? "all" : null,
  });
}
