// Pan and zoom of a large drawing by dragging, mouse wheel, pinching and keys.

/**
 * Where the corner of the drawing is, in pixels, and its scale.
 * @typedef {{x: number, y: number, k: number}} Transform
 */

const NEAREST = 4;
const FARTHEST = 0.001;
export const LEGIBLE = 0.92; // texts 12 units high have 11 pixels
const SMALL = 0.5;
const NARROW = 600; // px of an element in which a drawing as wide as a screen begins smaller than legible
const EDGE = 40;
const STILL = 4; // px a pointer may move and still be a click

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{x: number, y: number, w: number, h: number}} Rect */

/**
 * Create the camera of an element. `moved` is called once per frame after a change.
 * @param {HTMLElement} element takes the pointers
 * @param {(transform: Transform) => void} moved
 * @param {number} [legible] the least scale a drawing begins with
 */
export function createCamera(element, moved, legible = LEGIBLE) {
  return new Camera(element, moved, legible);
}

/** Offset and scale of a drawing. */
class Camera {
  /** @type {Transform} */
  #transform = { x: 0, y: 0, k: 1 };
  /** @type {Map<number, Point>} */
  #pointers = new Map();
  #dragged = false;
  #frame = 0;

  /** @param {HTMLElement} element @param {(transform: Transform) => void} moved @param {number} legible */
  constructor(element, moved, legible) {
    this.element = element;
    this.moved = moved;
    this.legible = legible;
    const up = (/** @type {PointerEvent} */ event) => this.#pointers.delete(event.pointerId);
    element.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.#onDown(event));
    element.addEventListener("pointermove", (event) => this.#onMove(event));
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", up);
  }

  /** Return the current offset and scale. */
  transform() {
    return this.#transform;
  }

  /** Return whether the last press was a drag rather than a click. */
  dragged() {
    return this.#dragged;
  }

  /** Change offset or scale. @param {Partial<Transform>} next */
  set(next) {
    this.#transform = { ...this.#transform, ...next };
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.moved(this.#transform);
    });
  }

  /**
   * Zoom by a factor around a point of the element, by default its centre.
   * @param {number} factor
   * @param {number} [atX]
   * @param {number} [atY]
   */
  zoom(factor, atX = this.element.clientWidth / 2, atY = this.element.clientHeight / 2) {
    const { x, y, k: before } = this.#transform;
    const k = Math.min(NEAREST, Math.max(FARTHEST, before * factor));
    const by = k / before;
    this.set({ k, x: atX - (atX - x) * by, y: atY - (atY - y) * by });
  }

  /** Show a whole rectangle of the drawing. @param {Rect} rect @param {number} [largest] */
  fit(rect, largest = 1.5) {
    const { clientWidth: width, clientHeight: height } = this.element;
    const k = Math.max(FARTHEST, Math.min(largest, (width - 32) / rect.w, (height - 32) / rect.h));
    this.set({ k, x: (width - rect.w * k) / 2 - rect.x * k, y: (height - rect.h * k) / 2 - rect.y * k });
  }

  /** Show a drawing from its top, whole if it stays legible. @param {Rect} rect */
  begin(rect) {
    this.fit(rect);
    const { clientWidth: width } = this.element;
    const fitting = width < NARROW ? Math.max(SMALL, (width - 32) / rect.w) : this.legible;
    const k = Math.min(this.legible, fitting);
    if (this.#transform.k >= k) return;
    this.set({ k, x: Math.max(16, (width - rect.w * k) / 2) - rect.x * k, y: 16 - rect.y * k });
  }

  /**
   * Move as little as needed to show a rectangle. A wide one is scaled down as long as it stays legible.
   * @param {Rect} rect
   */
  reveal(rect) {
    const { clientWidth: width, clientHeight: height } = this.element;
    const transform = this.#transform;
    const k = Math.min(transform.k, Math.max(SMALL, (width - 2 * EDGE) / rect.w));
    const x = rect.x * transform.k + transform.x;
    const y = rect.y * transform.k + transform.y;
    this.set({
      k,
      x: inSight(x - rect.x * k, rect.x * k, rect.w * k, width, (width - rect.w * k) / 2),
      y: inSight(y - rect.y * k, rect.y * k, rect.h * k, height, EDGE),
    });
  }

  /**
   * Centre a rectangle at a legible scale. Of one that is too large, show its top left corner.
   * @param {Rect} rect
   */
  centre(rect) {
    const { clientWidth: width, clientHeight: height } = this.element;
    const fitting = (width - 2 * EDGE) / rect.w;
    const k = Math.min(Math.max(this.#transform.k, this.legible), Math.max(SMALL, fitting));
    const inset = (/** @type {number} */ size, /** @type {number} */ room) =>
      size * k > room - 2 * EDGE ? EDGE : (room - size * k) / 2;
    this.set({ k, x: inset(rect.w, width) - rect.x * k, y: inset(rect.h, height) - rect.y * k });
  }

  /**
   * Keep a drawing that fits inside the element from being moved out of it.
   * @param {number} width
   * @param {number} height
   */
  keepIn(width, height) {
    const { clientWidth, clientHeight } = this.element;
    const { k } = this.#transform;
    if (width * k <= clientWidth) {
      this.set({ x: Math.min(clientWidth - width * k, Math.max(0, this.#transform.x)) });
    }
    if (height * k <= clientHeight) {
      this.set({ y: Math.min(clientHeight - height * k, Math.max(0, this.#transform.y)) });
    }
  }

  /**
   * Leave no more than an edge empty beside a drawing that is larger than the element.
   * @param {number} width
   * @param {number} height
   */
  fill(width, height) {
    const { x, y, k } = this.#transform;
    const { clientWidth, clientHeight } = this.element;
    this.set({ x: filling(x, width * k, clientWidth), y: filling(y, height * k, clientHeight) });
  }

  /** Return the visible rectangle in the drawing's units. @returns {Rect} */
  sight() {
    const { x, y, k } = this.#transform;
    return { x: -x / k, y: -y / k, w: this.element.clientWidth / k, h: this.element.clientHeight / k };
  }

  /** Zoom around the pointer. @param {WheelEvent} event */
  #onWheel(event) {
    event.preventDefault();
    const box = this.element.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.zoom(
      Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)),
      event.clientX - box.left,
      event.clientY - box.top,
    );
  }

  /** Remember where a pointer was pressed. @param {PointerEvent} event */
  #onDown(event) {
    if (event.button > 0) return;
    if (!this.#pointers.size) this.#dragged = false;
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  /** Pan with one pointer, pinch with two. @param {PointerEvent} event */
  #onMove(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (!this.#dragged && Math.hypot(now.x - before.x, now.y - before.y) < STILL) return;
    if (!this.#dragged) this.element.setPointerCapture(event.pointerId);
    this.#dragged = true;
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    const { x, y } = this.#transform;
    if (other) this.#pinch(before, now, other);
    else this.set({ x: x + now.x - before.x, y: y + now.y - before.y });
    this.#pointers.set(event.pointerId, now);
  }

  /**
   * Zoom and pan by the movement of one of two pointers.
   * @param {Point} before
   * @param {Point} now
   * @param {Point} other
   */
  #pinch(before, now, other) {
    const box = this.element.getBoundingClientRect();
    const factor =
      Math.hypot(now.x - other.x, now.y - other.y) /
      Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    this.zoom(factor, (now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top);
    const { x, y } = this.#transform;
    this.set({ x: x + (now.x - before.x) / 2, y: y + (now.y - before.y) / 2 });
  }
}

/**
 * Return the offset at which something larger than a room leaves at most an edge of it empty.
 * @param {number} offset
 * @param {number} size
 * @param {number} room
 */
function filling(offset, size, room) {
  return size > room ? Math.max(room - EDGE - size, Math.min(EDGE, offset)) : offset;
}

/**
 * Return the offset that brings an interval between two edges. `otherwise` is its start if it does not fit.
 * @param {number} offset
 * @param {number} start
 * @param {number} size
 * @param {number} room
 * @param {number} otherwise
 */
function inSight(offset, start, size, room, otherwise) {
  if (size > room - 2 * EDGE) return otherwise - start;
  if (offset + start < EDGE) return EDGE - start;
  return offset + start + size > room - EDGE ? room - EDGE - start - size : offset;
}
