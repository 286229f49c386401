// State of the tensor page in the address.

/**
 * @typedef {Object} State
 * @property {string} run @property {string} tag
 * @property {string} mode "table", "heat" or "distribution"
 * @property {string} dims "[0,0,:,:]"
 * @property {number | null} at the step that is held; null for the newest
 * @property {number} top @property {number} left corner of the window on the slice
 * @property {number} digits @property {boolean} scientific
 */

export const MODES = ["table", "heat", "distribution"];
const DIGITS = 4;

/** Read the state from the address. @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  const mode = url.get("m", "table");
  const at = url.get("at");
  const natural = (/** @type {string} */ key) => Math.max(0, Math.floor(Number(url.get(key, "0")) || 0));
  return {
    run: url.get("run", ""),
    tag: url.get("tag", ""),
    mode: MODES.includes(mode) ? mode : "table",
    dims: url.get("dims", ""),
    at: at === null || Number.isNaN(Number(at)) ? null : Number(at),
    top: natural("top"),
    left: natural("left"),
    digits: Number(url.get("d", String(DIGITS))),
    scientific: url.get("e") === "1",
  };
}

/** Write the state to the address. @param {import("../../core/url.js").Url} url @param {State} state */
export function writeState(url, { run, tag, mode, dims, at, top, left, digits, scientific }) {
  url.set({
    run,
    tag,
    m: mode === "table" ? null : mode,
    dims,
    at,
    top: top || null,
    left: left || null,
    d: digits === DIGITS ? null : digits,
    e: scientific ? "1" : null,
  });
}
