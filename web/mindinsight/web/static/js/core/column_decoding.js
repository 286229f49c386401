// Decoder of column answers: a JSON header followed by raw numbers. `column_encoding.py` is the encoder.

const TYPE = "application/vnd.mindinsight.columns";

/** Headers that request column answers. */
export const ACCEPT = { Accept: TYPE };

/** @typedef {import("./types.js").Numbers} Numbers */
/**
 * Description of a column: where its numbers lie, or their arithmetic sequence.
 * @typedef {{dtype?: string, at?: number, start?: number, stride?: number, length?: number}} Description
 */

/** @type {Record<string, new (buffer: ArrayBuffer, at?: number, length?: number) => Numbers>} */
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
 * Return a typed array over a buffer. 64-bit integers are converted to the nearest doubles. Throws if the
 * type is unknown.
 * @param {string} dtype as NumPy calls it, without the byte order
 * @param {ArrayBuffer} buffer
 * @param {number} [at] bytes
 * @param {number} [length] numbers
 * @returns {Numbers}
 */
export function typed(dtype, buffer, at = 0, length = undefined) {
  if (dtype === "i8") return Float64Array.from(new BigInt64Array(buffer, at, length), Number);
  if (dtype === "u8") return Float64Array.from(new BigUint64Array(buffer, at, length), Number);
  const array = ARRAYS[dtype];
  if (!array) throw new Error(`unknown column type ${dtype}`);
  return new array(buffer, at, length);
}

/**
 * Decode an answer. Its columns are typed arrays that share memory with `buffer`.
 * @template T
 * @param {ArrayBuffer} buffer
 * @param {number} [at] where the answer begins: a multiple of eight bytes
 * @returns {T}
 */
export function unpack(buffer, at = 0) {
  const length = new DataView(buffer, at).getUint32(0, true);
  const head = new TextDecoder().decode(new Uint8Array(buffer, at + 4, length));
  return JSON.parse(head, (_, value) => revive(value, buffer, at + 4 + length));
}

/**
 * Decode several answers that were sent inside one.
 * @template T
 * @param {{answers: Uint8Array<ArrayBuffer>[]}} answer
 * @returns {T[]}
 */
export function unpackAnswers({ answers }) {
  return answers.map((bytes) => unpack(bytes.buffer, bytes.byteOffset));
}

/**
 * Replace a column's description by its numbers. Other values are returned unchanged.
 * @param {unknown} value
 * @param {ArrayBuffer} buffer
 * @param {number} begin
 */
function revive(value, buffer, begin) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const { dtype, at, start = 0, stride, length } = /** @type {Description} */ (value);
  if (typeof length !== "number") return value;
  if (typeof at === "number") return typed(String(dtype), buffer, begin + at, length);
  return typeof stride === "number" ? Float64Array.from({ length }, (_, i) => start + i * stride) : value;
}
