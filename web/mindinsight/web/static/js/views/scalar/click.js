// Click on a chart, distinguished from dragging and double click.

const STILL = 4; // px that a pointer may move in a click
const TWICE = 300; // ms within which a second press makes it a double click, which undoes the zoom

/**
 * Call back on a click inside the plot that no second click follows. Plotly consumes events while dragging,
 * so the release is looked for in the whole window.
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
