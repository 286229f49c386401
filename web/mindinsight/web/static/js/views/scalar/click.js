// Click on a chart, told from a drag and from a double click.

const STILL = 4; // px that a pointer may move in a click
const TWICE = 300; // ms within which a second press makes it a double click, which undoes the zoom

/**
 * A press and a release at one place inside the plot, and no second one soon after. Plotly keeps the releases
 * of what is dragged to itself, so they are looked for in the whole window.
 * @param {HTMLElement} element
 * @param {(event: PointerEvent) => void} callback
 */
export function onClick(element, callback) {
  let timer = 0;
  let before = -Infinity;
  element.addEventListener("pointerdown", (down) => {
    clearTimeout(timer);
    const second = down.timeStamp - before < TWICE;
    before = down.timeStamp;
    const plot = /** @type {Element} */ (down.target).closest(".nsewdrag, .sketch");
    if (second || down.button || !plot) return;
    const release = (/** @type {PointerEvent} */ up) => {
      if (Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) < STILL) {
        timer = window.setTimeout(() => element.isConnected && callback(up), TWICE);
      }
    };
    window.addEventListener("pointerup", release, { capture: true, once: true });
  });
}
