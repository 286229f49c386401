// Scrolling of a list to its current row.

/**
 * Scroll a row to the upper third of its list, unless it is visible.
 * @param {HTMLElement} scroller positioned, so that rows are measured from it
 * @param {HTMLElement} row
 */
export function reveal(scroller, row) {
  const above = row.offsetTop - scroller.scrollTop;
  if (above < 0 || above > scroller.clientHeight - row.offsetHeight) {
    scroller.scrollTop += above - scroller.clientHeight / 3;
  }
}
