// State of the checkpoint page in the address.

/**
 * @typedef {Object} State
 * @property {"timeline" | "tensors" | "compare"} mode
 * @property {string} series key of the series
 * @property {string} part of a long series: the number of one of its parts, "" for some of all
 * @property {string} file
 * @property {string} second the file it is compared with
 * @property {string} q in the names of tensors
 * @property {boolean} unchanged only what did not change
 * @property {boolean} lost only what is not finite
 * @property {string} only the state of the differences that are shown, "" for all
 * @property {string} sort a column, "" for what matters first
 * @property {boolean} descending
 * @property {string} tensor shown at the side
 * @property {string} at file whose values are shown
 */

export const MODES = /** @type {const} */ (["timeline", "tensors", "compare"]);

/** Names in the address. */
const KEYS = /** @type {const} */ ({
  mode: "m",
  series: "series",
  part: "part",
  file: "file",
  second: "second",
  q: "q",
  only: "only",
  sort: "sort",
  tensor: "tensor",
  at: "at",
});
const FLAGS = /** @type {const} */ ({ unchanged: "unchanged", lost: "lost", descending: "desc" });

/** Read the state from the address. @param {import("../../core/url.js").Url} url @returns {State} */
export function readState(url) {
  const texts = Object.entries(KEYS).map(([key, name]) => [key, url.get(name, "")]);
  const flags = Object.entries(FLAGS).map(([key, name]) => [key, url.get(name) === "1"]);
  return Object.fromEntries([...texts, ...flags]);
}

/**
 * Write the state to the address.
 * @param {import("../../core/url.js").Url} url
 * @param {State} state
 * @param {boolean} [entry] as a new entry of the browser's history
 */
export function writeState(url, state, entry = false) {
  const texts = Object.entries(KEYS).map(([key, name]) => [name, state[/** @type {keyof State} */ (key)]]);
  const flags = Object.entries(FLAGS).map(([key, name]) => [
    name,
    state[/** @type {keyof State} */ (key)] ? "1" : null,
  ]);
  const values = Object.fromEntries([...texts, ...flags]);
  if (entry) url.step(values);
  else url.set(values);
}

/** Checkpoints that the server compares at once. */
export const MOST = 200;

/**
 * Return the checkpoints that a timeline shows: of a long series one of its parts, or evenly chosen ones from
 * the first to the last.
 * @template T
 * @param {T[]} all in order
 * @param {string} part
 * @returns {T[]}
 */
export function timelinePart(all, part) {
  if (all.length <= MOST) return all;
  const start = MOST * Number(part);
  if (part !== "" && all[start]) return all.slice(start, start + MOST);
  return Array.from({ length: MOST }, (_, i) => all[Math.round((i * (all.length - 1)) / (MOST - 1))]);
}

/**
 * Return the file or series of the address that does not exist; "" if all do.
 * @param {State} state
 * @param {{checkpoints: {id: string}[], series: {key: string}[]}} listed
 */
export function unknownFile({ file, second, series: key }, { checkpoints, series }) {
  const unknown = [file, second].find((id) => id && !checkpoints.some((known) => known.id === id));
  return unknown ?? (key && !series.some((known) => known.key === key) ? key : "");
}

/**
 * Replace a mode, series or file that does not exist by one that does. The file follows the series of a
 * timeline, and the series follows the file otherwise.
 * @param {State} state
 * @param {{checkpoints: {id: string}[], series: {key: string, checkpoints: {id: string}[]}[]}} listed
 */
export function settle(state, { checkpoints, series }) {
  const timelines = series.filter((group) => group.checkpoints.length > 1);
  const longest = [...timelines].sort((a, b) => b.checkpoints.length - a.checkpoints.length)[0];
  const has = (/** @type {string} */ id) => checkpoints.some((file) => file.id === id);
  const holds = (/** @type {typeof longest} */ group, /** @type {string} */ id) =>
    group.checkpoints.some((file) => file.id === id);
  let chosen = timelines.find(({ key }) => key === state.series);
  if (!chosen || state.mode !== "timeline") {
    chosen = timelines.find((group) => holds(group, state.file)) ?? chosen ?? longest;
  }
  state.series = chosen?.key ?? "";
  if (!has(state.second)) state.second = "";
  if (!MODES.includes(state.mode) || (state.mode === "timeline" && !state.series)) {
    const named = has(state.file) || !state.series;
    state.mode = state.second ? "compare" : named ? "tensors" : "timeline";
  }
  const last = chosen?.checkpoints ?? [];
  if (state.mode === "timeline" && chosen) {
    if (!holds(chosen, state.file)) state.file = "";
    if (!holds(chosen, state.second)) state.second = "";
  }
  if (!has(state.file)) state.file = (last.at(-2) ?? checkpoints[0])?.id ?? "";
  if (state.mode === "compare" && !state.second) {
    const other = last.at(state.file === last.at(-1)?.id ? -2 : -1);
    state.second = (other ?? checkpoints.find(({ id }) => id !== state.file))?.id ?? "";
  }
}
