// Attention to a chart: the pointer rests on it, or it gets the keyboard focus.

const REST = 120; // ms that a pointer stays on a chart that somebody looks at

/**
 * Call back when the user points at an element or focuses it. Scrolling an element under a resting pointer
 * does not count.
 * @param {HTMLElement} element
 * @param {() => void} callback
 */
export function onAttention(element, callback) {
  let timer = 0;
  const rest = (/** @type {PointerEvent} */ event) => {
    const moved = event.movementX || event.movementY;
    if (moved && !timer) timer = window.setTimeout(callback, REST);
  };
  element.addEventListener("pointermove", rest);
  element.addEventListener("pointerleave", () => {
    clearTimeout(timer);
    timer = 0;
  });
  element.addEventListener("pointerdown", callback);
  element.addEventListener("focusin", callback);
}
