// Palette colours and dash styles of runs.

export const COLOURS = 20;
const FIRST = 10; // the brightest, with which runs begin: the darker ones are taken when these are in use
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
  return (slot + (rank ?? 0)) % FIRST;
}

/**
 * Give runs that are shown together different colours, as long as there are enough. A run keeps its colour
 * while no other one has it.
 * @param {{id: string, slot: number, rank: number | null}[]} runs that are shown
 * @param {Map<string, number>} given what runs have got; the new ones are added
 * @returns {boolean} whether one has got another than before
 */
export function giveColours(runs, given) {
  const used = new Set();
  let changed = false;
  const inOrder = [...runs].sort(
    (a, b) =>
      Number(given.has(b.id)) - Number(given.has(a.id)) || a.slot - b.slot || (a.rank ?? 0) - (b.rank ?? 0),
  );
  for (const run of inOrder) {
    const wanted = given.get(run.id) ?? colourOf(run);
    const free = Array.from({ length: COLOURS }, (_, i) => (wanted + i) % COLOURS).find((n) => !used.has(n));
    changed ||= given.get(run.id) !== (free ?? wanted);
    given.set(run.id, free ?? wanted);
    used.add(free ?? wanted);
  }
  return changed;
}

/**
 * Assign dash styles so that shown runs of the same colour differ. The first one is solid; ranks come last.
 * @param {{id: string}[]} runs in order
 * @param {(id: string) => string} colour
 * @returns {Map<string, number>} id -> place in `DASHES`
 */
export function dashesOf(runs, colour) {
  /** @type {Map<string, number>} */
  const used = new Map();
  return new Map(
    runs.map(({ id }) => {
      const before = used.get(colour(id)) ?? 0;
      used.set(colour(id), before + 1);
      return [id, before % DASHES.length];
    }),
  );
}
