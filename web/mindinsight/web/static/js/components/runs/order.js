// Order of rows and columns.

import { draggable, dropTarget } from "../movable.js";

/**
 * Return the sorting after a click on a header: in the column's first direction, then reversed, then none.
 * @param {string} sort "key", "-key" for descending, "" for none
 * @param {string} key
 * @param {"ascending" | "descending"} first
 */
export function nextSort(sort, key, first) {
  const order = first === "ascending" ? [key, `-${key}`] : [`-${key}`, key];
  const at = order.indexOf(sort);
  return at < 0 ? order[0] : (order[at + 1] ?? null);
}

/**
 * Return the keys with one moved before another, or to the end. Unknown keys change nothing.
 * @param {string[]} keys
 * @param {string} key
 * @param {string | null} before
 */
export function moved(keys, key, before) {
  const rest = keys.filter((other) => other !== key);
  const at = before === null ? rest.length : rest.indexOf(before);
  if (!keys.includes(key) || at < 0) return keys;
  return [...rest.slice(0, at), key, ...rest.slice(at)];
}

/**
 * Return the keys with a new one behind `beside`, or at the end if that is not among them.
 * @param {string[]} keys
 * @param {string} key
 * @param {string} beside
 */
export function withColumn(keys, key, beside) {
  const at = keys.indexOf(beside);
  return at < 0 ? [...keys, key] : keys.toSpliced(at + 1, 0, key);
}

const TYPE = "column";

/**
 * Make a header cell draggable. Alt with an arrow key moves it by one.
 * @param {HTMLElement} cell
 * @param {string} key
 * @param {(key: string, before: string | null) => void} onmove
 */
export function movable(cell, key, onmove) {
  cell.dataset.column = key;
  draggable(cell, TYPE, key);
  dropTarget(cell, TYPE, (dragged) => {
    const next = /** @type {HTMLElement | null} */ (cell.nextElementSibling);
    if (dragged !== key) onmove(dragged, isBefore(cell, dragged) ? (next?.dataset.column ?? null) : key);
  });
  cell.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 2 }[event.key];
    if (!event.altKey || !step) return;
    event.preventDefault();
    const cells = [.../** @type {HTMLElement} */ (cell.parentElement).children].filter(
      (other) => /** @type {HTMLElement} */ (other).dataset.column,
    );
    const target = /** @type {HTMLElement | undefined} */ (cells[cells.indexOf(cell) + step]);
    onmove(key, target?.dataset.column ?? null);
  });
  return cell;
}

/**
 * Return whether the dragged column stands before a cell.
 * @param {HTMLElement} cell
 * @param {string} dragged
 */
function isBefore(cell, dragged) {
  const cells = [.../** @type {HTMLElement} */ (cell.parentElement).children];
  const at = cells.findIndex((other) => /** @type {HTMLElement} */ (other).dataset.column === dragged);
  return at >= 0 && at < cells.indexOf(cell);
}
