// Dragging on parallel axes: an axis by its name, or a range along it, also by keyboard.

import { svg } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./axes.js").Column} Column */
/** @typedef {import("./axes.js").Plot} Plot */

/** Class of an axis while it, or a range on it, is dragged: the drawing must not be replaced meanwhile. */
const DRAGGED = "dragged";

/** Return whether the user is dragging in a drawing of axes. @param {Element} picture */
export function isDragged(picture) {
  return picture.querySelector(`.${DRAGGED}`) !== null;
}

/**
 * Let an axis be moved by dragging its name or by arrow keys.
 * @param {Plot} plot
 * @param {Column} column
 * @param {SVGGElement} group
 * @param {SVGTextElement} title
 * @param {number} gap px between axes
 */
export function moveOn(plot, column, group, title, gap) {
  let from = NaN;
  title.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    from = event.clientX;
    group.classList.add(DRAGGED);
    title.setPointerCapture(event.pointerId);
  });
  title.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (!Number.isNaN(from)) group.setAttribute("transform", `translate(${event.clientX - from},0)`);
  });
  /** @param {number} by */
  const end = (by) => {
    from = NaN;
    group.classList.remove(DRAGGED);
    group.removeAttribute("transform");
    if (by) plot.onmove(column.key, by);
    else plot.onbrush();
  };
  title.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    if (!Number.isNaN(from)) end(Math.round((event.clientX - from) / gap));
  });
  title.addEventListener("pointercancel", () => end(0));
  title.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) plot.onmove(column.key, by);
  });
}

/**
 * Let a range be brushed by dragging along an axis. A click removes it.
 * @param {App} app
 * @param {Plot} plot
 * @param {Column} column
 * @param {SVGGElement} group
 * @param {number} x
 * @param {(at: number) => number} y
 * @param {number} tall
 */
export function brushOn(app, plot, column, group, x, y, tall) {
  const brush = plot.brushes.get(column.key);
  const rect = svg("rect", {
    class: "brush",
    x: x - 8,
    width: 16,
    y: brush ? y(brush.high) : 0,
    height: brush ? Math.max(2, (brush.high - brush.low) * tall) : 0,
  });
  const field = brushField(app, column, brush, x - 12, y(1) - 6, tall + 12);
  let from = NaN;
  const share = (/** @type {PointerEvent} */ event) => {
    const box = /** @type {SVGElement} */ (group.ownerSVGElement).getBoundingClientRect();
    return Math.min(1, Math.max(0, 1 - (event.clientY - box.top - y(1)) / tall));
  };
  /** @param {number} a @param {number} b */
  const set = (a, b) => {
    if (Math.abs(a - b) < 0.01) plot.brushes.delete(column.key);
    else plot.brushes.set(column.key, { low: Math.min(a, b), high: Math.max(a, b) });
    plot.onbrush();
  };
  field.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    from = share(event);
    group.classList.add(DRAGGED);
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (Number.isNaN(from)) return;
    const to = share(event);
    rect.setAttribute("y", String(y(Math.max(from, to))));
    rect.setAttribute("height", String(Math.abs(from - to) * tall));
  });
  const end = () => {
    from = NaN;
    group.classList.remove(DRAGGED);
  };
  field.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    if (Number.isNaN(from)) return; // pressed elsewhere
    const range = /** @type {const} */ ([from, share(event)]);
    end();
    set(...range);
  });
  field.addEventListener("pointercancel", () => {
    end();
    plot.onbrush();
  });
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowUp: 0.1, ArrowDown: -0.1 }[event.key];
    if (by) event.preventDefault();
    if (event.key === "Escape") set(0, 0);
    else if (by) set(0, Math.min(1, Math.max(0.1, (plot.brushes.get(column.key)?.high ?? 1) + by)));
  });
  group.append(rect, field);
}

/**
 * Create the area where a range is dragged or set by keyboard.
 * @param {App} app
 * @param {Column} column
 * @param {import("./axes.js").Brush | undefined} brush
 * @param {number} x
 * @param {number} y
 * @param {number} height
 */
function brushField(app, column, brush, x, y, height) {
  return svg("rect", {
    class: "field",
    x,
    width: 24,
    y,
    height,
    tabindex: "0",
    role: "slider",
    "data-focus": `brush:${column.key}`,
    "aria-label": app.t("lineage.brush", { axis: column.label }),
    "aria-valuemin": 0,
    "aria-valuemax": 100,
    "aria-valuenow": brush ? Math.round(brush.high * 100) : 100,
  });
}
