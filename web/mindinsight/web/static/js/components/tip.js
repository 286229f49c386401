// Tooltip beside the pointer, for charts and pictures.

import { h, replace } from "../core/dom.js";

const GAP = 8; // px

/** Create a tooltip with functions that show it near the pointer, hide it and remove it. */
export function createTip() {
  const element = h("div", { class: "tip", role: "tooltip", hidden: true });
  document.body.append(element);
  return {
    /**
     * @param {number} x px in the window
     * @param {number} y
     * @param {DOMRect} plot what the tip is about: it lies below or above it, or where
     *   neither has room beside the pointer
     * @param {...import("../core/dom.js").Child} content
     */
    show(x, y, plot, ...content) {
      const host = document.querySelector("dialog.full-card") ?? document.body; // above what fills the window
      if (element.parentElement !== host) host.append(element);
      replace(element, content);
      element.hidden = false;
      const { offsetWidth: width, offsetHeight: height } = element;
      const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
      const beside = Math.min(Math.max(8, y - height / 2), innerHeight - height - 8);
      const [below, above] = [plot.bottom + GAP, plot.top - GAP - height];
      const top = below + height <= innerHeight - GAP ? below : above >= GAP ? above : beside;
      Object.assign(element.style, { left: `${Math.max(8, left)}px`, top: `${top}px` });
    },
    hide() {
      element.hidden = true;
    },
    remove: () => element.remove(),
  };
}
