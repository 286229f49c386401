// Handle at a panel's edge that changes its width by dragging or arrow keys.

import { h } from "../core/dom.js";

const STEP = 24; // px of an arrow key

/**
 * Create the handle by which a panel's width is dragged, or changed by arrow keys. `onresize` is called with
 * each new width in pixels.
 * @param {Object} options
 * @param {string} options.label
 * @param {"left" | "right"} options.edge of the panel, which is the handle's parent
 * @param {number} [options.width] px, like what follows; that of the panel if left out
 * @param {number} options.narrowest
 * @param {number} options.widest
 * @param {(width: number) => void} options.onresize
 */
export function resizeHandle({ label, edge, width, narrowest, widest, onresize }) {
  let current = width;
  const panelWidth = () => /** @type {HTMLElement} */ (handle.parentElement).offsetWidth;
  const resize = (/** @type {number} */ wanted) => {
    current = Math.round(Math.min(widest, Math.max(narrowest, wanted)));
    handle.setAttribute("aria-valuenow", String(current));
    onresize(current);
  };
  /** @type {HTMLElement} */
  const handle = h("div", {
    class: `resize-handle ${edge}`,
    role: "separator",
    tabindex: "0",
    "aria-orientation": "vertical",
    "aria-label": label,
    "aria-valuemin": narrowest,
    "aria-valuemax": widest,
    "aria-valuenow": width ?? narrowest,
    onfocus: () => handle.setAttribute("aria-valuenow", String(current ?? panelWidth())),
    onpointerdown: (/** @type {PointerEvent} */ event) => {
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
    },
    onpointermove: (/** @type {PointerEvent} */ event) => {
      const panel = handle.parentElement?.getBoundingClientRect();
      if (!event.buttons || !panel) return;
      resize(edge === "left" ? panel.right - event.clientX : event.clientX - panel.left);
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
      if (!by) return;
      event.preventDefault();
      resize((current ?? panelWidth()) + (edge === "left" ? -by : by));
    },
  });
  return handle;
}
