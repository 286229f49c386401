// Zoom of an image by wheel or keys and panning by dragging. A double click shows the whole image.

/** @typedef {{scale: number, x: number, y: number}} Zoom `x`, `y`: px by which the picture is moved */

/** @type {Readonly<Zoom>} */
export const WHOLE = { scale: 1, x: 0, y: 0 };

const MOST = 64;
const NOTCH = 1.25; // of the wheel, or of a key

/**
 * Return the zoom after scaling around a point that stays in place.
 * @param {Zoom} zoom
 * @param {number} factor
 * @param {number} x px from the middle of the stage
 * @param {number} y
 * @returns {Zoom}
 */
export function zoomAt(zoom, factor, x, y) {
  const scale = Math.min(MOST, zoom.scale * factor);
  if (scale <= 1) return { ...WHOLE };
  const grown = scale / zoom.scale;
  return { scale, x: x - (x - zoom.x) * grown, y: y - (y - zoom.y) * grown };
}

/**
 * Let an image be zoomed. The wheel alone scrolls the page unless the stage has the focus or fills the
 * window.
 * @param {HTMLElement} stage
 * @param {HTMLElement} picture
 */
export function zoomable(stage, picture) {
  /** @type {Zoom} */
  let zoom = { ...WHOLE };
  const show = (/** @type {Zoom} */ next) => {
    zoom = next;
    const whole = zoom.scale === 1;
    picture.style.transform = whole ? "" : `translate(${zoom.x}px, ${zoom.y}px) scale(${zoom.scale})`;
    stage.classList.toggle("zoomed", !whole);
  };
  const fromMiddle = (/** @type {MouseEvent} */ event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
  };
  stage.addEventListener(
    "wheel",
    (event) => {
      const meant = event.ctrlKey || event.metaKey || stage.matches(":focus, .card.full *");
      if (!meant) return;
      event.preventDefault();
      const [x, y] = fromMiddle(event);
      show(zoomAt(zoom, event.deltaY < 0 ? NOTCH : 1 / NOTCH, x, y));
    },
    { passive: false },
  );
  stage.addEventListener("dblclick", () => show({ ...WHOLE }));
  stage.addEventListener("pointerdown", (down) => {
    if (zoom.scale === 1 || down.button) return;
    const start = zoom;
    stage.setPointerCapture(down.pointerId);
    const move = (/** @type {PointerEvent} */ event) =>
      show({
        ...start,
        x: start.x + event.clientX - down.clientX,
        y: start.y + event.clientY - down.clientY,
      });
    stage.addEventListener("pointermove", move);
    const end = () => stage.removeEventListener("pointermove", move);
    stage.addEventListener("pointerup", end, { once: true });
    stage.addEventListener("pointercancel", end, { once: true });
  });
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") show(zoomAt(zoom, NOTCH, 0, 0));
    else if (event.key === "-") show(zoomAt(zoom, 1 / NOTCH, 0, 0));
    else if (event.key === "0") show({ ...WHOLE });
    else return;
    event.preventDefault();
  });
}
