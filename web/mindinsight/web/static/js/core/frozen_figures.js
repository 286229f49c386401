// JSON encoding of figures. Columns are base64, so that all digits are kept, and theme colours are stored by
// name, so that a frozen chart fits the other theme.

import { COLOURS } from "./colours.js";
import { typed } from "./column_decoding.js";

/** @typedef {Pick<import("./charts.js").Figure, "data" | "layout">} Drawing */
/** @typedef {Map<string, string>} Names of the theme's colours, by "#rrggbb" */

const DTYPES = ["f8", "f4", "i4", "i2", "i1", "u4", "u2", "u1"];
const NAME = /^var\((--[a-z]+(?:-[a-z0-9]+)*)\)$/;
const RAMP = 5;
/** CSS variables of the theme colours. Of two variables of one colour the first is used. */
export const COLOUR_NAMES = [
  "--text",
  "--muted",
  "--grid",
  "--line",
  "--panel",
  "--raised",
  "--bg",
  "--accent",
  "--warn",
  "--bad",
  "--ok",
  ...Array.from({ length: COLOURS }, (_, i) => `--run-${i + 1}`),
  ...Array.from({ length: RAMP }, (_, i) => `--ramp-${i + 1}`),
];

/**
 * Return the CSS variable of each theme colour, by its hex value.
 * @param {(name: string) => string} colour of the theme
 * @returns {Names}
 */
export function colourNames(colour) {
  return new Map([...COLOUR_NAMES].reverse().map((name) => [colour(name).toLowerCase(), `var(${name})`]));
}

/**
 * Return a figure as JSON values, with theme colours replaced by their names.
 * @param {Drawing} figure
 * @param {Names} names
 * @returns {Drawing}
 */
export function encodeFigure({ data, layout }, names) {
  return /** @type {Drawing} */ (encode({ data, layout }, names));
}

/**
 * Return an encoded figure with typed columns and the colours of the current theme.
 * @param {Drawing} figure
 * @param {(name: string) => string} colour
 * @returns {Drawing}
 */
export function decodeFigure({ data, layout }, colour) {
  return /** @type {Drawing} */ (decode({ data, layout }, colour));
}

/**
 * Encode a value recursively. Functions and keys that begin with "_" are dropped.
 * @param {unknown} value
 * @param {Names} names
 * @returns {unknown}
 */
function encode(value, names) {
  if (typeof value === "string") return names.get(value.toLowerCase()) ?? value;
  if (typeof value === "function" || value === undefined) return undefined;
  if (value === null || typeof value !== "object") return value;
  if (ArrayBuffer.isView(value)) return encodedColumn(value);
  if (Array.isArray(value)) return value.map((item) => encode(item, names) ?? null);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !key.startsWith("_"))
      .map(([key, item]) => [key, encode(item, names)]),
  );
}

/**
 * Encode a typed array as base64 with its type; types without a code become plain numbers.
 * @param {ArrayBufferView} column
 */
function encodedColumn(column) {
  const dtype = DTYPES.find((name) => typed(name, new ArrayBuffer(0)).constructor === column.constructor);
  if (!dtype) return Array.from(/** @type {ArrayLike<number>} */ (/** @type {unknown} */ (column)), Number);
  const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return { dtype, bdata: btoa(text) };
}

/**
 * Decode a value recursively.
 * @param {unknown} value
 * @param {(name: string) => string} colour
 * @returns {unknown}
 */
function decode(value, colour) {
  if (typeof value === "string") {
    const name = NAME.exec(value)?.[1];
    return name ? colour(name) : value;
  }
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => decode(item, colour));
  const { dtype, bdata } = /** @type {{dtype?: unknown, bdata?: unknown}} */ (value);
  if (typeof bdata === "string" && typeof dtype === "string" && DTYPES.includes(dtype)) {
    const bytes = Uint8Array.from(atob(bdata), (character) => character.charCodeAt(0));
    return typed(dtype, bytes.buffer);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item, colour)]));
}
