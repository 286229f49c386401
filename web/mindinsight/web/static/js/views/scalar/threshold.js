// Thresholds that mark values: "<0.1", ">5", "0.1~5" (between), "!0.1~5" (outside).

/** Condition on a value. */
export class Threshold {
  /** @param {"above" | "below" | "between" | "outside"} kind @param {number} low @param {number} high */
  constructor(kind, low, high = low) {
    this.kind = kind;
    this.low = low;
    this.high = high;
  }

  /**
   * Return whether a value is marked. Limits have its precision: 0.1 that was recorded as float32
   * is not above 0.1.
   * @param {number} value
   */
  holds(value) {
    const narrow = Number.isFinite(value) && Math.fround(value) === value;
    const [low, high] = [this.low, this.high].map((limit) => (narrow ? Math.fround(limit) : limit));
    if (this.kind === "above") return value > low;
    if (this.kind === "below") return value < low;
    const inside = value >= low && value <= high;
    return this.kind === "between" ? inside : value < low || value > high;
  }

  /** Return the values at which lines are drawn. */
  bounds() {
    return this.low === this.high ? [this.low] : [this.low, this.high];
  }

  /** Return the threshold as text. */
  toString() {
    if (this.kind === "above") return `>${this.low}`;
    if (this.kind === "below") return `<${this.low}`;
    return `${this.kind === "outside" ? "!" : ""}${this.low}~${this.high}`;
  }
}

/**
 * Parse a threshold; null if it is invalid.
 * @param {string | null | undefined} text
 * @returns {Threshold | null} null for what is not a threshold
 */
export function parseThreshold(text) {
  const match = /^(?:([<>])(\S+)|(!?)([^~]+)~(.+))$/.exec((text ?? "").trim());
  if (!match) return null;
  const [low, high] = match[1] ? [Number(match[2]), Number(match[2])] : [Number(match[4]), Number(match[5])];
  if (!Number.isFinite(low) || !Number.isFinite(high) || low > high) return null;
  if (match[1]) return new Threshold(match[1] === ">" ? "above" : "below", low);
  return new Threshold(match[3] ? "outside" : "between", low, high);
}
