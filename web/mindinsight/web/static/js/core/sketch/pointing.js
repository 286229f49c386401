// Attention to a chart: the pointer rests on it, or the keyboard's focus comes to it.

const REST = 120; // ms that a pointer stays on a chart that somebody looks at

/**
 * Call back each time somebody turns to an element. An element that is scrolled under a resting pointer is
 * not meant.
 * @param {Element} element
 * @param {() => void} callback
 */
export function onAttention(element, callback) {
  let timer = 0;
  const rest = (/** @type {any} */ event) => {
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
