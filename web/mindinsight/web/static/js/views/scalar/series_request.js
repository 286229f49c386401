// Request for the curves of a chart.

import { smoothing } from "./options.js";

const MOST_PIXELS = 20_000; // of all curves of a chart together; each pixel may hold some points

/**
 * The curves of a tag for a chart of a width.
 * @param {import("./card.js").Page} page
 * @param {string} tag
 * @param {string[]} runs
 * @param {number} width
 * @param {AbortSignal} signal
 */
export function requestSeries(page, tag, runs, width, signal) {
  const options = page.options();
  const { selection } = page.app;
  const params = {
    tag,
    run: runs,
    fold: [...selection.folded()],
    px: Math.min(
      Math.max(200, Math.min(2000, width || 600)),
      Math.max(20, Math.floor(MOST_PIXELS / (selection.entries().length || 1))),
    ),
    x: options.x,
    low: options.zoom?.[0],
    high: options.zoom?.[1],
    log_x: options.logX === "linear" ? null : true,
    ...smoothing(options),
    overwritten: options.overwritten || null,
  };
  return page.inTurn(() => page.app.api.columns("v2/scalar/series", params, { signal }), signal);
}
