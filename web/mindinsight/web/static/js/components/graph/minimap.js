// Minimap: the whole drawing in a corner with the visible part marked.

import { replace, svg } from "../../core/dom.js";
import { isLarge } from "./level_of_detail.js";

const WIDTH = 90; // of a large picture boxes of less than this share are left out

/**
 * Create the minimap, the whole drawing in a corner with the visible part marked. Dragging on it moves the
 * drawing.
 * @param {(x: number, y: number) => void} moveTo called with the point of the drawing to show in the middle
 */
export function createMinimap(moveTo) {
  const boxes = svg("g", null);
  /** @type {Map<number, SVGElement>} */
  let byId = new Map();
  const sight = svg("rect", { class: "sight" });
  const element = svg("svg", { class: "graph-minimap", "aria-hidden": "true" }, boxes, sight);

  /** @param {PointerEvent} event */
  const move = (event) => {
    if (event.type === "pointermove" && !event.buttons) return;
    event.stopPropagation();
    if (event.type === "pointerdown") element.setPointerCapture(event.pointerId);
    const matrix = element.getScreenCTM();
    if (!matrix) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    moveTo(point.x, point.y);
  };
  element.addEventListener("pointerdown", move);
  element.addEventListener("pointermove", move);

  return {
    element,

    /** @param {import("./shapes.js").Picture} picture */
    show(picture) {
      element.setAttribute("viewBox", `0 0 ${picture.width} ${picture.height}`);
      const least = isLarge(picture) ? picture.width / WIDTH : 0;
      const shown = picture.boxes.filter((box) => box.w >= least);
      byId = new Map(
        shown.map((box) => [
          box.id,
          svg("rect", {
            class: `${box.open ? "frame" : "closed"} ${box.kind} ${box.badge?.kind ?? ""}`,
            x: box.x,
            y: box.y,
            width: box.w,
            height: box.h,
          }),
        ]),
      );
      replace(boxes, [...byId.values()]);
    },

    /** Mark what a search found. @param {Set<number>} ids */
    mark(ids) {
      byId.forEach((box, id) => box.classList.toggle("hit", ids.has(id)));
    },

    /** @param {{x: number, y: number, w: number, h: number}} rect */
    view(rect) {
      for (const [name, value] of Object.entries({
        x: rect.x,
        y: rect.y,
        width: Math.max(1, rect.w),
        height: Math.max(1, rect.h),
      })) {
        sight.setAttribute(name, value.toFixed(1));
      }
    },
  };
}
