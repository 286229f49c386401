// Arrangement of cards and sections as differences from the default order. A new tag takes its default
// position, and the address of hundreds of cards holds only those that somebody moved.

/** @typedef {[item: string, before: string]} Move `before`: the item that follows, "" for the end */
/** @typedef {[chart: string, before: string, section: string]} ChartMove */

const SEPARATOR = ">"; // of the fields of a parameter

/**
 * Return the items in their arranged order: each moved item in front of the item that its move names, or at
 * the end if that item is missing.
 * @param {string[]} items in default order
 * @param {Move[]} moves in the order of the result
 */
export function withMoves(items, moves) {
  const missing = new Set(moves.map(([item]) => item));
  const result = items.filter((item) => !missing.has(item));
  const present = new Set(items);
  for (const [item, before] of moves) {
    const at = result.indexOf(before);
    if (present.has(item)) result.splice(at < 0 ? result.length : at, 0, item);
  }
  return result;
}

/**
 * Return `moves` with another move, of `item` in front of `before`. Moves of missing items stay.
 * @param {string[]} items in the order shown
 * @param {Move[]} moves
 * @param {string} item
 * @param {string} before
 * @returns {Move[]}
 */
export function afterMove(items, moves, item, before) {
  const order = withMoves([...items.filter((other) => other !== item), item], [[item, before]]);
  return movesOf(order, [...moves, [item, before]]);
}

/**
 * Return the moves that produce the order of `items`. Moves of missing items stay.
 * @param {string[]} items in the order shown
 * @param {Move[]} moves those of all items that were moved
 * @returns {Move[]}
 */
export function movesOf(items, moves) {
  const moved = new Set(moves.map(([item]) => item));
  const result = moves.filter(([item]) => !items.includes(item));
  let follower = "";
  for (const item of items.toReversed()) {
    if (moved.has(item)) result.unshift([item, follower]);
    else follower = item;
  }
  return result;
}

/**
 * Return the item that follows a dragged item after its drop on a target; "" for the end.
 * @param {string[]} items
 * @param {string} item
 * @param {string} target
 */
export function followerAfterDrop(items, item, target) {
  const from = items.indexOf(item);
  const at = items.indexOf(target);
  return from >= 0 && from < at ? (items[at + 1] ?? "") : target;
}

/** Parse the columns and rows of cards by key: "loss:2x1". @param {string[]} texts */
export function readSpans(texts) {
  /** @type {Map<string, [number, number]>} */
  const spans = new Map();
  for (const [key, text] of texts.map(splitLast)) {
    const match = /^([1-4])x([1-3])$/.exec(text);
    if (match) spans.set(key, [Number(match[1]), Number(match[2])]);
  }
  return spans;
}

/** Return the columns and rows of cards as parameters. @param {Map<string, [number, number]>} spans */
export function writeSpans(spans) {
  return [...spans].map(([key, [columns, rows]]) => `${key}:${columns}x${rows}`);
}

/**
 * Split a text at its last colon: "a:b:>1" becomes ["a:b", ">1"].
 * @param {string} text
 * @returns {[string, string]}
 */
export function splitLast(text) {
  const at = text.lastIndexOf(":");
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Join fields to a parameter of the address. @param {string[]} fields */
export function joinFields(fields) {
  return fields.map((field) => field.replace(/[%>]/g, encodeURIComponent)).join(SEPARATOR);
}

/**
 * Return parameters of the address as fields, without those of another length.
 * @param {string[]} texts
 * @param {number} count
 */
export function splitFields(texts, count) {
  const fields = texts.map((text) => text.split(SEPARATOR).map(decodeField));
  return fields.filter(({ length }) => length === count);
}

/** Decode a field, or return it as it is if a person typed it. @param {string} field */
function decodeField(field) {
  try {
    return decodeURIComponent(field);
  } catch {
    return field;
  }
}
