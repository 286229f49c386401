// Tooltip beside the pointer, for charts and pictures.

import { h, replace } from "../core/dom.js";

export function createTip() {
  const element = h("div", { class: "tip", role: "tooltip", hidden: true });
  document.body.append(element);
  return {
    /** @param {number} x px in the window @param {number} y @param {...any} content */
    show(x, y, ...content) {
      replace(element, content);
      element.hidden = false;
      const { offsetWidth: width, offsetHeight: height } = element;
      const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
      const top = Math.min(Math.max(8, y - height / 2), innerHeight - height - 8);
      Object.assign(element.style, { left: `${Math.max(8, left)}px`, top: `${top}px` });
    },
    hide() {
      element.hidden = true;
    },
    remove: () => element.remove(),
  };
}
