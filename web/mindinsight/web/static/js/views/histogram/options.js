// Options of the histogram page in the address.

/**
 * @typedef {{mode: string, axis: string, step: number, scale: string}} Options `step`: 0 for
 *   the newest; `scale`: which cards share one
 */

export const MODES = ["heat", "percentile", "ridge", "overlay", "beside"];
export const SCALES = ["own", "tag", "all"];
export const AXES = ["step", "relative", "wall"];

/** Read the options from the address. @param {import("../../core/url.js").Url} url @returns {Options} */
export function readOptions(url) {
  const mode = url.get("m", "heat");
  const axis = url.get("x", "step");
  const scale = url.get("sc", "own");
  return {
    mode: MODES.includes(mode) ? mode : "heat",
    axis: AXES.includes(axis) ? axis : "step",
    step: Number(url.get("at", "0")),
    scale: SCALES.includes(scale) ? scale : "own",
  };
}

/** Write the options to the address. @param {import("../../core/url.js").Url} url @param {Options} options */
export function writeOptions(url, { mode, axis, step, scale }) {
  url.set({
    m: mode === "heat" ? null : mode,
    x: axis === "step" ? null : axis,
    sc: scale === "own" ? null : scale,
    at: mode === "beside" ? step : null,
  });
}
