// State of the dump overlay in the address.

import { STATISTICS } from "../../components/dump/state.js";

/** @typedef {{dump: string, rank: number, step: number, paint: string, check: boolean}} State */

export const SYMPTOMS = "symptoms";

/** Read the state from the address. @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  const paint = url.get("paint", SYMPTOMS);
  const number = (/** @type {string} */ key) => Number(url.get(key, "0")) || 0;
  return {
    dump: url.get("dump", ""),
    rank: number("rank"),
    step: number("step"),
    paint: STATISTICS.includes(paint) ? paint : SYMPTOMS,
    check: url.get("check") === "1",
  };
}

/**
 * Write the state to the address.
 * @param {import("../../core/url.js").Url} url
 * @param {State} state
 * @param {boolean} [entry] as a new entry of the browser's history
 */
export function writeState(url, { dump, rank, step, paint, check }, entry = false) {
  const on = dump !== "";
  const values = {
    dump,
    rank: on && rank ? rank : null,
    step: on && step ? step : null,
    paint: on && paint !== SYMPTOMS ? paint : null,
    check: on && check ? "1" : null,
  };
  if (entry) url.step(values);
  else url.set(values);
}
