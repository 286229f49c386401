// Many curves as one: the mean as a line, the deviation and the range as bands behind it.

/**
 * @param {{band: {step: any, mean: any, deviation: any, low: any, high: any}, colour: string, label: string, dash?: string}} what
 * @returns {any[]}
 */
export function bandTraces({ band, colour, label, dash = "solid" }) {
  const x = band.step;
  const up = Float64Array.from(band.mean, (/** @type {number} */ mean, /** @type {number} */ i) => mean + band.deviation[i]);
  const down = Float64Array.from(band.mean, (/** @type {number} */ mean, /** @type {number} */ i) => mean - band.deviation[i]);
  const edge = { type: "scatter", mode: "lines", x, line: { width: 0, color: colour }, hoverinfo: "skip", legendgroup: label };
  const mode = band.mean.length > 1 ? "lines" : "markers"; // one point has no line
  return [
    { ...edge, y: band.low },
    { ...edge, y: band.high, fill: "tonexty", fillcolor: faint(colour, 0.12) },
    { ...edge, y: down },
    { ...edge, y: up, fill: "tonexty", fillcolor: faint(colour, 0.2) },
    { type: "scatter", mode, x, y: band.mean, name: label, marker: { color: colour, size: 6 }, line: { color: colour, width: 2, dash }, legendgroup: label },
  ];
}

/** "#rrggbb" with an opacity. @param {string} colour @param {number} share */
export function faint(colour, share) {
  return colour + Math.round(share * 255).toString(16).padStart(2, "0");
}
