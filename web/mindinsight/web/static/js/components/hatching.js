// Hatching of non-finite cells, so that they do not depend on colour alone.

const WIDTH = 800; // px of the picture that is laid over the map, half as wide in most cards
const HEIGHT = 400;
const PERIOD = 18; // px from stripe to stripe
const STRIPE = 7; // px

/** @typedef {{left: number, top: number, width: number, height: number}} Box shares of the map */

/**
 * Return one box for each horizontal group of cells that hold a number, as shares of the map's size.
 * @param {ArrayLike<number>} x centres of the columns, ascending
 * @param {ArrayLike<number>} y centres of the rows, the lowest first
 * @param {ArrayLike<number | null>[]} z rows; null and NaN where there is no cell
 * @returns {Box[]}
 */
export function cellBoxes(x, y, z) {
  const [columns, rows] = [edges(x), edges(y)];
  const [wide, high] = [extent(columns), extent(rows)];
  const share = (/** @type {number[]} */ ends, /** @type {number} */ i, /** @type {number} */ size) =>
    (ends[i] - ends[0]) / size;
  return z.flatMap((row, at) => {
    const top = 1 - share(rows, at + 1, high);
    const height = 1 - share(rows, at, high) - top;
    return cellGroups(row).map(([from, to]) => {
      const left = share(columns, from, wide);
      return { left, top, width: share(columns, to, wide) - left, height };
    });
  });
}

/**
 * Return start and end of each group of consecutive numbers in a row.
 * @param {ArrayLike<number | null>} row
 * @returns {[number, number][]}
 */
function cellGroups(row) {
  /** @type {[number, number][]} */
  const found = [];
  for (let i = 0; i < row.length; i++) {
    const value = row[i];
    if (value === null || Number.isNaN(value)) continue;
    const before = found.at(-1);
    if (before?.[1] === i) before[1] = i + 1;
    else found.push([i, i + 1]);
  }
  return found;
}

/**
 * Return the borders of cells from their centres, as Plotly draws them.
 * @param {ArrayLike<number>} centres
 */
function edges(centres) {
  const n = centres.length;
  if (n < 2) return [(centres[0] ?? 0) - 0.5, (centres[0] ?? 0) + 0.5];
  const inner = Array.from({ length: n - 1 }, (_, i) => (centres[i] + centres[i + 1]) / 2);
  return [2 * centres[0] - inner[0], ...inner, 2 * centres[n - 1] - inner[n - 2]];
}

/** Return the distance between the first and last border. @param {number[]} ends */
function extent(ends) {
  return ends[ends.length - 1] - ends[0];
}

/**
 * Return images for a Plotly layout that hatch the cells of a heat map; [] if there is no cell to hatch.
 * @param {ArrayLike<number>} x as for `cellBoxes`
 * @param {ArrayLike<number>} y
 * @param {ArrayLike<number | null>[]} z
 * @param {string} colour of the stripes
 */
export function hatchImages(x, y, z, colour) {
  const boxes = cellBoxes(x, y, z);
  if (!boxes.length) return [];
  const [columns, rows] = [edges(x), edges(y)];
  return [
    {
      source: drawn(boxes, colour),
      xref: "x",
      yref: "y",
      x: columns[0],
      y: rows[rows.length - 1],
      sizex: extent(columns),
      sizey: extent(rows),
      xanchor: "left",
      yanchor: "top",
      sizing: "stretch",
      layer: "above",
    },
  ];
}

/** Draw the hatching and return it as a data URL. @param {Box[]} boxes @param {string} colour */
function drawn(boxes, colour) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: WIDTH, height: HEIGHT });
  const context = canvas.getContext("2d");
  if (!context) return "";
  context.beginPath();
  for (const { left, top, width, height } of boxes) {
    context.rect(left * WIDTH, top * HEIGHT, Math.max(1, width * WIDTH), Math.max(1, height * HEIGHT));
  }
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = STRIPE;
  context.beginPath();
  for (let at = -HEIGHT; at < WIDTH; at += PERIOD) {
    context.moveTo(at, HEIGHT);
    context.lineTo(at + HEIGHT, 0);
  }
  context.stroke();
  return canvas.toDataURL();
}

/**
 * Return the CSS background of a legend entry for hatched cells.
 * @param {string} colour name of a variable
 * @param {string} stripes
 */
export function hatchKey(colour, stripes) {
  return `repeating-linear-gradient(135deg, var(${colour}) 0 3px, var(${stripes}) 3px 5px)`;
}

/** Classes of a badge that tells of values that are not finite. */
export const NON_FINITE_BADGE = "badge bad strange";

/**
 * Return the CSS classes of a table cell by its text: `others`, and the hatched class for a non-finite value.
 * Return null if there are none.
 * @param {string} text
 * @param {string} [others] other classes
 */
export function valueClass(text, others = "") {
  return /^[+\u2212-]?(?:nan|inf|\u221e)/i.test(text) ? `${others} strange`.trim() : others || null;
}
