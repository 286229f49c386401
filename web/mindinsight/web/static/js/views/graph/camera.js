// Looking at a large drawing: dragging, wheel, pinch and keys move a transform.

/** @typedef {{x: number, y: number, k: number}} Place where the drawing's corner is, in pixels, and its scale */

const NEAREST = 4;
const FARTHEST = 0.02;
const LEGIBLE = 0.7;
const SMALL = 0.5;
const EDGE = 40;
const STILL = 4; // px a pointer may move and still be a click

/**
 * @param {HTMLElement} element takes the pointers
 * @param {(place: Place) => void} moved
 */
export function createCamera(element, moved) {
  /** @type {Place} */
  let place = { x: 0, y: 0, k: 1 };
  /** @type {Map<number, {x: number, y: number}>} */
  const pointers = new Map();
  let dragged = false;
  let frame = 0;

  /** @param {Partial<Place>} next */
  const set = (next) => {
    place = { ...place, ...next };
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      moved(place);
    });
  };

  /** Scale about a point of the element. @param {number} factor @param {number} [atX] @param {number} [atY] */
  const zoom = (factor, atX = element.clientWidth / 2, atY = element.clientHeight / 2) => {
    const k = Math.min(NEAREST, Math.max(FARTHEST, place.k * factor));
    const by = k / place.k;
    set({ k, x: atX - (atX - place.x) * by, y: atY - (atY - place.y) * by });
  };

  /** @param {WheelEvent} event */
  const onwheel = (event) => {
    event.preventDefault();
    const box = element.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
  };

  /** @param {PointerEvent} event */
  const ondown = (event) => {
    if (event.button > 0) return;
    if (!pointers.size) dragged = false;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };

  /** @param {PointerEvent} event */
  const onmove = (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (!dragged && Math.hypot(now.x - before.x, now.y - before.y) < STILL) return;
    if (!dragged) element.setPointerCapture(event.pointerId);
    dragged = true;
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) pinch(before, now, other);
    else set({ x: place.x + now.x - before.x, y: place.y + now.y - before.y });
    pointers.set(event.pointerId, now);
  };

  /** @typedef {{x: number, y: number}} Point */
  /** @param {Point} before @param {Point} now @param {Point} other */
  const pinch = (before, now, other) => {
    const box = element.getBoundingClientRect();
    const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    zoom(factor, (now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top);
    set({ x: place.x + (now.x - before.x) / 2, y: place.y + (now.y - before.y) / 2 });
  };

  /** @param {PointerEvent} event */
  const onup = (event) => pointers.delete(event.pointerId);

  element.addEventListener("wheel", onwheel, { passive: false });
  element.addEventListener("pointerdown", ondown);
  element.addEventListener("pointermove", onmove);
  element.addEventListener("pointerup", onup);
  element.addEventListener("pointercancel", onup);

  return {
    zoom,
    set,
    place: () => place,
    /** Whether the last press was a drag and no click. */
    dragged: () => dragged,

    /** Show a rectangle of the drawing whole. @param {{x: number, y: number, w: number, h: number}} rect @param {number} [largest] */
    fit(rect, largest = 1.25) {
      const { clientWidth: width, clientHeight: height } = element;
      const k = Math.max(FARTHEST, Math.min(largest, (width - 32) / rect.w, (height - 32) / rect.h));
      set({ k, x: (width - rect.w * k) / 2 - rect.x * k, y: (height - rect.h * k) / 2 - rect.y * k });
    },

    /** Show a drawing as far as it stays legible, from its top. @param {{x: number, y: number, w: number, h: number}} rect */
    begin(rect) {
      this.fit(rect);
      if (place.k >= LEGIBLE) return;
      const { clientWidth: width } = element;
      const k = Math.min(LEGIBLE, Math.max(place.k, (width - 32) / rect.w));
      set({ k, x: (width - rect.w * k) / 2 - rect.x * k, y: 16 - rect.y * k });
    },

    /**
     * Move, and not more than needed, so that a rectangle is in sight; one that is too wide is made smaller as
     * long as it stays legible. @param {{x: number, y: number, w: number, h: number}} rect
     */
    reveal(rect) {
      const { clientWidth: width, clientHeight: height } = element;
      const k = Math.min(place.k, Math.max(SMALL, (width - 2 * EDGE) / rect.w));
      const x = rect.x * place.k + place.x;
      const y = rect.y * place.k + place.y;
      set({ k, x: inSight(x - rect.x * k, rect.x * k, rect.w * k, width, (width - rect.w * k) / 2), y: inSight(y - rect.y * k, rect.y * k, rect.h * k, height, EDGE) });
    },

    /** Where a drawing has room to be whole it is whole. @param {number} width @param {number} height */
    keepIn(width, height) {
      const { clientWidth, clientHeight } = element;
      const { k } = place;
      if (width * k <= clientWidth) set({ x: Math.min(clientWidth - width * k, Math.max(0, place.x)) });
      if (height * k <= clientHeight) set({ y: Math.min(clientHeight - height * k, Math.max(0, place.y)) });
    },

    /** The part of the drawing that is in sight. */
    sight: () => ({ x: -place.x / place.k, y: -place.y / place.k, w: element.clientWidth / place.k, h: element.clientHeight / place.k }),
  };
}

/** The offset at which a stretch lies between two edges; `otherwise` says where it begins when it is too long. @param {number} offset @param {number} start @param {number} size @param {number} room @param {number} otherwise */
function inSight(offset, start, size, room, otherwise) {
  if (size > room - 2 * EDGE) return otherwise - start;
  if (offset + start < EDGE) return EDGE - start;
  return offset + start + size > room - EDGE ? room - EDGE - start - size : offset;
}
