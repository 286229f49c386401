// Answers with columns: a JSON head, then raw numbers. The server's side is columns.py.

const TYPE = "application/vnd.mindinsight.columns";

/** What to ask for in `Accept`. */
export const ACCEPT = { Accept: TYPE };

/** @type {Record<string, any>} */
const ARRAYS = {
  f8: Float64Array,
  f4: Float32Array,
  i4: Int32Array,
  i2: Int16Array,
  i1: Int8Array,
  u4: Uint32Array,
  u2: Uint16Array,
  u1: Uint8Array,
};

/**
 * The answer with typed arrays in the places of its columns; they are views of `buffer`.
 * @param {ArrayBuffer} buffer
 * @returns {any}
 */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  return JSON.parse(head, (_, value) => revive(value, buffer, 4 + length));
}

/** @param {any} value @param {ArrayBuffer} buffer @param {number} start */
function revive(value, buffer, start) {
  if (
    value === null ||
    typeof value !== "object" ||
    typeof value.length !== "number" ||
    Array.isArray(value)
  ) {
    return value;
  }
  if (typeof value.at === "number") return new ARRAYS[value.dtype](buffer, start + value.at, value.length);
  if (typeof value.stride === "number") {
    return Float64Array.from({ length: value.length }, (_, i) => value.start + i * value.stride);
  }
  return value;
}
