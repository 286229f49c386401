// Virtual lists and tables: only the rows near the window exist, between two spacers.

import { COPIED } from "../core/capture.js";
import { h, replace } from "../core/dom.js";
import { keepFocus } from "../core/focus.js";
import { longName } from "./long_name.js";

const OVERSCAN = 8;
const MOST_COPIED = 2000; // rows in a copy of the page
const LONGEST = 24; // characters of a heading that is not cut

/**
 * Create a virtual list of rows of one height inside a scrolling element. `update(count)` redraws it,
 * `reveal(index)` scrolls to a row, `close()` stops observing the size.
 * @param {{scroller: HTMLElement, body: HTMLElement, spacer: () => HTMLElement, height: number, head?:
 *   number, row: (index: number) => HTMLElement}} options `head` px of the scroller are covered (by a sticky
 *   header)
 */
export function virtualRows({ scroller, body, spacer, height, head = 0, row }) {
  let count = 0;
  let from = -1;
  let to = -1;
  const before = spacer();
  const after = spacer();

  /** @param {boolean} [always] */
  const draw = (always = false) => {
    const view = scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor((scroller.scrollTop - head) / height) - OVERSCAN);
    const last = Math.min(count, first + Math.ceil(view / height) + 2 * OVERSCAN);
    if (always || first !== from || last !== to) drawRows(first, last);
  };

  const drawRows = (/** @type {number} */ first, /** @type {number} */ last) => {
    from = first;
    to = last;
    before.style.height = `${first * height}px`;
    after.style.height = `${(count - last) * height}px`;
    const rows = Array.from({ length: last - first }, (_, i) => row(first + i));
    keepFocus(body, () => replace(body, before, rows, after));
  };

  scroller.addEventListener("scroll", () => draw(), { passive: true });
  scroller.addEventListener(COPIED, () => drawRows(0, Math.min(count, MOST_COPIED)));
  const sized = new ResizeObserver(() => draw());
  sized.observe(scroller);
  return {
    /** @param {number} next how many rows there are now; all visible ones are made anew */
    update(next) {
      count = next;
      draw(true);
    },
    /** @param {number} index */
    reveal(index) {
      const top = index * height;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      else if (top + height + head > scroller.scrollTop + scroller.clientHeight) {
        scroller.scrollTop = top + height + head - scroller.clientHeight;
      }
    },
    close: () => sized.disconnect(),
  };
}

/**
 * Create a table with virtual rows. `setHead` sets its header cells, `update(count)` redraws it.
 * @param {{label: string, height?: number, row: (index: number) => HTMLElement}} options
 */
export function virtualTable({ label, height = 31, row }) {
  const head = h("tr");
  const body = h("tbody");
  const table = h("table", { class: "table", "aria-label": label }, h("thead", null, head), body);
  const scroller = h(
    "div",
    { class: "scroll table-scroll", tabindex: "0", role: "region", "aria-label": label },
    table,
  );
  let columns = 1;
  const spacer = () => h("tr", { class: "spacer", "aria-hidden": "true" }, h("td", { colspan: columns }));
  const rows = virtualRows({ scroller, body, spacer, height, head: height, row });
  return {
    element: scroller,
    table,
    /** @param {HTMLElement[]} cells <th> elements */
    setHead(cells) {
      columns = cells.length;
      replace(head, cells);
    },
    /** @param {number} count */
    update(count) {
      table.setAttribute("aria-rowcount", String(count + 1));
      rows.update(count);
    },
    close: rows.close,
  };
}

/**
 * Create a header cell. With `onsort` it is a button that shows the direction of sorting.
 * @param {{label: string, number?: boolean, sorted?: "ascending" | "descending" | null, onsort?: () => void,
 *   title?: string, tools?: HTMLElement, of?: string}} options `of`: written above the label
 */
export function headCell({ label, number = false, sorted = null, onsort, title, tools, of }) {
  const named = (/** @type {string} */ name) => (name.length > LONGEST ? longName(name, { title }) : name);
  const text = of ? h("span", { class: "head-of" }, h("span", null, named(of)), " ", label) : named(label);
  const content = onsort ? h("button", { type: "button", onclick: onsort, title }, text) : text;
  return h(
    "th",
    { scope: "col", class: number ? "number" : null, "aria-sort": onsort ? (sorted ?? "none") : null },
    content,
    tools,
  );
}
