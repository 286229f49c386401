// Scale shared by the histograms of several cards: range of values and density of the fullest bins.

import { number } from "../../core/format.js";
import { row } from "./series.js";

/** @typedef {import("./series.js").Series} Series */
/** @typedef {{low: number, high: number, peak: number}} Scale `peak`: share of the values per unit */

const USUAL = 0.9; // share of the steps whose fullest bin stays below the peak

/**
 * Return the share of a step's values in each bin, divided by the bin's width.
 * @param {Series} series
 * @param {number} column
 */
export function densities(series, column) {
  const counts = row(series, column);
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  const { edges } = series;
  return Float32Array.from(counts, (count, bin) => count / total / (edges[bin + 1] - edges[bin] || 1));
}

const CONSTANT = 1e-9; // of its size: values that vary by less differ by rounding alone

/**
 * Return what an axis of values has beside its number of ticks: a shared range, and a single tick if its
 * values differ by rounding alone, which no short text tells apart.
 * @param {{low: number, high: number} | null} scale
 * @param {Float64Array} edges of the bins
 * @returns {{range?: [number, number], tickvals?: number[], ticktext?: string[]}}
 */
export function valueAxis(scale, edges) {
  const [low, high] = scale ? [scale.low, scale.high] : [edges[0], edges[edges.length - 1]];
  const shared = scale ? { range: /** @type {[number, number]} */ ([low, high]) } : {};
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (!size || high - low > CONSTANT * size) return shared;
  const middle = low / 2 + high / 2;
  return { ...shared, tickvals: [middle], ticktext: [number(middle, 6)] };
}

/** Return the scale of a single histogram card. @param {Series} series @returns {Scale} */
export function ownScale(series) {
  const peaks = Array.from({ length: series.shown }, (_, column) =>
    densities(series, column).reduce((most, density) => Math.max(most, density), 0),
  ).sort((a, b) => a - b);
  const peak = peaks[Math.max(0, Math.ceil(peaks.length * USUAL) - 1)] || 0;
  return { low: series.edges[0], high: series.edges[series.edges.length - 1], peak };
}

/**
 * Return the scale that fits all, or null if none has finite values.
 * @param {Scale[]} scales
 * @returns {Scale | null}
 */
export function union(scales) {
  const known = scales.filter(({ peak }) => peak > 0); // others have no finite value
  if (!known.length) return null;
  return {
    low: Math.min(...known.map(({ low }) => low)),
    high: Math.max(...known.map(({ high }) => high)),
    peak: Math.max(...known.map(({ peak }) => peak)),
  };
}

/** Scales of histogram cards, shared by the cards of a tag or of the page. */
export class SharedScales {
  /** @type {Map<string, Map<object, {scale: Scale, paint: () => void}>>} */
  #groups = new Map();

  /**
   * Set the scale of a card. Other cards of its group are redrawn if the shared scale changes.
   * @param {string} group
   * @param {object} card
   * @param {Scale} scale
   * @param {() => void} paint
   */
  tell(group, card, scale, paint) {
    const members = this.#groups.get(group) ?? new Map();
    this.#groups.set(group, members);
    const before = JSON.stringify(this.of(group));
    members.set(card, { scale, paint });
    if (JSON.stringify(this.of(group)) === before) return;
    members.forEach((member, other) => other !== card && member.paint());
  }

  /** Return the shared scale of a group, or null. @param {string} group */
  of(group) {
    return union([...(this.#groups.get(group)?.values() ?? [])].map(({ scale }) => scale));
  }
}
