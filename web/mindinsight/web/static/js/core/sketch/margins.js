// Margins of a chart with known labels, equal for the light drawing and for Plotly, so that nothing moves.

const CHARACTER = 0.6; // of the size of the font: the width of a digit, a little more than it is
const GAP = 10; // px beside a label
const LINE = 1.3; // of the size of the font: the height of a further line

/**
 * Return the layout with margins wide enough for its labels. Unchanged if Plotly chooses the labels.
 * @template {import("../types.js").PlotlyLayout} L
 * @param {L} layout of Plotly
 * @returns {L}
 */
export function withRoomForLabels(layout) {
  const { xaxis, yaxis, margin, font } = layout;
  if (!xaxis?.ticktext || !yaxis?.ticktext || !margin || !font) return layout;
  const width = (/** @type {string} */ text) => longest(text) * CHARACTER * font.size;
  const left = Math.max(margin.l, GAP + Math.max(0, ...yaxis.ticktext.map(width)));
  const right = Math.max(margin.r, 2 + width(xaxis.ticktext.at(-1) ?? "") / 2);
  const rows = Math.max(1, ...xaxis.ticktext.map((text) => text.split("<br>").length));
  const below = margin.b + (rows - 1) * LINE * font.size;
  return {
    ...layout,
    margin: { ...margin, l: Math.ceil(left), r: Math.ceil(right), b: Math.ceil(below) },
    xaxis: { ...xaxis, automargin: false },
    yaxis: { ...yaxis, automargin: false },
  };
}

/** Return the digits that are as wide as the longest line of a label. @param {string} text */
function longest(text) {
  const minus = 0.5; // of a digit, by which it is wider
  return Math.max(...text.split("<br>").map((line) => line.length + minus * (line.split("−").length - 1)));
}
