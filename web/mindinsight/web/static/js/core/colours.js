// Allocation of colours and dashes to the runs that are shown.

export const COLOURS = 12;
export const DASHES = ["solid", "dash", "dot", "dashdot"];

/**
 * @param {[number, string][]} stops "#rrggbb" at ascending places
 * @param {number} at
 * @returns {string} "#rrggbb"
 */
export function between(stops, at) {
  const next = Math.max(
    1,
    stops.findIndex(([position]) => position >= at),
  );
  const [[a, from], [b, to]] = [stops[next - 1], stops[next]];
  const share = (at - a) / (b - a);
  const channel = (/** @type {string} */ colour, /** @type {number} */ i) =>
    parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mixed = [0, 1, 2].map((i) =>
    Math.round(channel(from, i) + share * (channel(to, i) - channel(from, i))),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * From the choice alone, so that a link shows the same colours: each run takes the colour of its place in
 * time or, where another shown run has that, the next free one. Dashes come after twelve.
 * @param {{run: {id: string}, index: number}[]} runs oldest first; `index` is the place among all runs
 * @returns {Map<string, number>} id -> colour + 12 × dash
 */
export function allot(runs) {
  const used = new Set();
  /** @type {Map<string, number>} */
  const slots = new Map();
  for (const { run, index } of runs) {
    const dash = Math.floor(used.size / COLOURS) * COLOURS;
    let colour = index % COLOURS;
    while (used.has(dash + colour)) colour = (colour + 1) % COLOURS;
    used.add(dash + colour);
    slots.set(run.id, dash + colour);
  }
  return slots;
}
