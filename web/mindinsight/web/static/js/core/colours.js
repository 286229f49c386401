// Palette colours and dash styles of runs.

export const COLOURS = 12;
export const DASHES = ["solid", "dash", "dot", "dashdot"];

/**
 * Interpolate a colour scale at a position between its first and last stop.
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
 * Return a run's index in the palette. It depends on the job's stored slot and on the rank, not on which
 * other runs are shown.
 * @param {{slot: number, rank: number | null}} run
 */
export function colourOf({ slot, rank }) {
  return (slot + (rank ?? 0)) % COLOURS;
}

/**
 * Assign dash styles so that shown runs of the same colour differ. The first one is solid; ranks come last.
 * @param {{id: string, slot: number, rank: number | null}[]} runs
 * @returns {Map<string, number>} id -> place in `DASHES`
 */
export function dashesOf(runs) {
  const used = new Array(COLOURS).fill(0);
  const rank = (/** @type {{rank: number | null}} */ run) => run.rank ?? 0;
  const inOrder = [...runs].sort(
    (a, b) => Number(rank(a) > 0) - Number(rank(b) > 0) || a.slot - b.slot || rank(a) - rank(b),
  );
  return new Map(inOrder.map((run) => [run.id, used[colourOf(run)]++ % DASHES.length]));
}
