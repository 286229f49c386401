// Virtual cells: only the rows and columns of a table near the window of its scroller exist.

import { COPIED } from "../core/capture.js";

/** First row, end of the rows, first column, end of the columns. @typedef {number[]} Cells */
/**
 * `sized` is as large as all cells and has the table of some of them at their position.
 * @typedef {{scroller: HTMLElement, sized: HTMLElement, table: HTMLTableElement, rows: number, columns:
 *   number, draw: (cells: Cells) => void}} Parts
 */

const MARGIN = 6; // cells that are drawn beyond each side of the window
const FIRST = { row: 24, column: 72, head: 48 }; // px, until the first cells are measured
const WINDOW = { width: 1200, height: 600 }; // px, until the scroller is in the page
const MOST_COPIED = 40; // rows and columns in a copy of the page

/**
 * Draw the cells near the window now and whenever others come near it. Return a function that scrolls to a
 * cell.
 * @param {Parts} parts
 * @param {number[] | null} goal row and column of the cell
 * @returns {() => void}
 */
export function cellWindow(parts, goal) {
  const { scroller, sized, table, rows, columns } = parts;
  /** @type {Cells | null} */
  let drawn = null;

  /** Return the sizes of a row, a column and the header cells of the rows, in px. */
  const sizes = () => {
    const corner = table.tHead?.rows[0]?.cells;
    const box = corner?.[1]?.getBoundingClientRect();
    if (!box?.width) return FIRST;
    return { row: box.height, column: box.width, head: corner?.[0].getBoundingClientRect().width ?? 0 };
  };

  /** Draw cells at their position. @param {Cells} cells */
  const take = (cells) => {
    drawn = cells;
    parts.draw(cells);
    const { row, column, head } = sizes();
    sized.style.height = `${(rows + 1) * row}px`;
    sized.style.width = `${head + columns * column}px`;
    table.style.marginTop = `${cells[0] * row}px`;
    table.style.marginLeft = `${cells[2] * column}px`;
  };

  const visible = (/** @type {number} */ margin) => {
    const { row, column } = sizes();
    const { clientHeight: height, clientWidth: width } = scroller;
    const [top, left] = [scroller.scrollTop / row, scroller.scrollLeft / column];
    return [
      Math.max(0, Math.floor(top) - margin),
      Math.min(rows, Math.ceil(top + (height || WINDOW.height) / row) + margin),
      Math.max(0, Math.floor(left) - margin),
      Math.min(columns, Math.ceil(left + (width || WINDOW.width) / column) + margin),
    ];
  };

  const follow = () => {
    const [top, bottom, left, right] = visible(0);
    const near = drawn && drawn[0] <= top && drawn[1] >= bottom && drawn[2] <= left && drawn[3] >= right;
    if (!near) take(visible(MARGIN));
  };

  scroller.addEventListener("scroll", follow, { passive: true });
  scroller.addEventListener(COPIED, () => {
    const [top, , left] = visible(0);
    take([top, Math.min(rows, top + MOST_COPIED), left, Math.min(columns, left + MOST_COPIED)]);
    table.style.margin = "0";
    Object.assign(sized.style, { width: "", height: "" });
    drawn = null;
  });
  take(visible(MARGIN));
  new ResizeObserver(() => take(visible(MARGIN))).observe(scroller);
  return () => {
    if (!goal) return;
    take(visible(MARGIN)); // measured in the page
    const { row, column, head } = sizes();
    scroller.scrollTop = (goal[0] + 1.5) * row - scroller.clientHeight / 2;
    scroller.scrollLeft = head + (goal[1] + 0.5) * column - scroller.clientWidth / 2;
    follow();
    table.querySelector(".marked")?.scrollIntoView({ block: "center", inline: "center" });
  };
}
