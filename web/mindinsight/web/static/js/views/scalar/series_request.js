// Requests for the curves of charts.

import { batches } from "../../core/batches.js";
import { ONE_BY_ONE } from "../../core/copy.js";
import { unpackAnswers } from "../../core/column_decoding.js";
import { smoothing } from "./options.js";

const MOST_PIXELS = 20_000; // of all curves of a chart together; each pixel may hold some points

const REQUESTS = 2; // at a time, of a browser's six
const TAGS = 8; // in one request, for charts that wait
const TAILS = 1000; // curves in one request for new points: as many as the server takes
const GATHER_MS = 20; // in which the charts of a page learn of the same change

/**
 * What a page has of a curve: so many points, of a generation.
 * @typedef {{tag: string, run: string, since: number, generation: number}} Known
 */

/**
 * Create the queue of requests for curves. Requests that differ only in their tags are sent together.
 * @param {typeof import("../../core/api.js")} api
 */
export function seriesRequests(api) {
  const size = ONE_BY_ONE ? 1 : TAGS;
  return batches(REQUESTS, size, async (key, /** @type {string[]} */ [tag, ...also], signal) => {
    const params = { tag, also, ...JSON.parse(key) };
    const answer = await api.columns("v2/scalar/series", params, { signal });
    return also.length ? unpackAnswers(answer) : [answer];
  });
}

/**
 * Create the queue of requests for new points. Those of all charts are sent together.
 * @param {typeof import("../../core/api.js")} api
 */
export function tailRequests(api) {
  return batches(
    1,
    TAILS,
    async (key, /** @type {Known[]} */ series, signal) => {
      const body = { ...JSON.parse(key), series };
      return unpackAnswers(await api.columns("v2/scalar/tails", {}, { signal, body }));
    },
    GATHER_MS,
  );
}

/**
 * Request the curves of a tag for a chart's width.
 * @param {import("./card.js").Page} page
 * @param {string} tag
 * @param {string[]} runs
 * @param {number} width
 * @param {AbortSignal} signal
 * @param {Iterable<string>} [fold] jobs whose ranks come as their median
 */
export function requestSeries(page, tag, runs, width, signal, fold = page.app.selection.folded()) {
  const options = page.options();
  const { selection } = page.app;
  const params = {
    run: runs,
    fold: [...fold],
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
  return page.series(JSON.stringify(params), tag, signal);
}
