// Scrolling of a list to its current row.

/**
 * Bring a row to the upper third of its scrolling element, unless it is in sight.
 * @param {HTMLElement} scroller positioned, so that rows are measured from it
 * @param {HTMLElement} row
 */
export function reveal(scroller, row) {
  const above = row.offsetTop - scroller.scrollTop;
  if (above < 0 || above > scroller.clientHeight - row.offsetHeight) {
    scroller.scrollTop += above - scroller.clientHeight / 3;
  }
}
