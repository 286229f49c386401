// Parser of slices as text: "[0,0,:,1:5]".

/** Return the text of each dimension. @param {string} dims @returns {string[]} */
export function splitDims(dims) {
  const inside = dims.trim().replace(/^\[|\]$/g, "");
  return inside ? inside.split(",").map((dimension) => dimension.trim()) : [];
}

/**
 * Return a slice from the texts of its dimensions. An empty text means the whole dimension.
 * @param {string[]} texts
 */
export function composed(texts) {
  return `[${texts.map((text) => text.trim() || ":").join(",")}]`;
}

/**
 * Return a dimension's index after an arrow key, within the dimension; null if the key changes nothing.
 * @param {string} text
 * @param {string} key
 * @param {number} size
 * @returns {string | null} null when it changes nothing
 */
export function stepped(text, key, size) {
  const by = { ArrowUp: 1, ArrowDown: -1 }[key];
  if (!by || !/^\d+$/.test(text.trim())) return null;
  const next = Math.min(size - 1, Math.max(0, Number(text) + by));
  return next === Number(text) ? null : String(next);
}
