// DOM construction from plain values. Strings always become text nodes, so nothing from a file is parsed as
// markup. Invisible characters are shown as escapes, so that different names look different.

import { keepFocus } from "./focus.js";
import { visible } from "./names.js";

const SPOKEN = new Set(["title", "aria-label", "alt"]);
const SVG = "http://www.w3.org/2000/svg";

/**
 * what an element can hold; a list may hold lists
 * @typedef {Node | string | number | null | undefined | false | {[Symbol.iterator]: () => Iterator<Child>}}
 *   Child
 */
/** @typedef {Record<string, string | number | null | undefined>} Style CSS properties by name */
/**
 * Listeners of an element by the name of their event, such as `onclick`.
 * @typedef {{[E in keyof HTMLElementEventMap as `on${E}`]?:
 *   ((event: HTMLElementEventMap[E]) => unknown) | null}} Listeners
 */
/**
 * Attributes of an element. Null, undefined and false leave out an attribute.
 * @typedef {Listeners & {style?: Style | null, [name: string]: unknown}} Attributes
 */
/**
 * @template {string} K
 * @typedef {K extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[K] : HTMLElement} Html
 */
/**
 * @template {string} K
 * @typedef {K extends keyof SVGElementTagNameMap ? SVGElementTagNameMap[K] : SVGElement} Drawn
 */

/**
 * Create an HTML element: h("button", {class: "quiet", onclick: f, "aria-pressed": true}, "Text").
 * @template {string} K
 * @param {K} tag
 * @param {Attributes | null} [attrs]
 * @param {...Child} children
 * @returns {Html<K>}
 */
export function h(tag, attrs, ...children) {
  return /** @type {Html<K>} */ (fill(document.createElement(tag), attrs, children));
}

/**
 * Create an SVG element. Arguments are those of `h`.
 * @template {string} K
 * @param {K} tag
 * @param {Attributes | null} [attrs]
 * @param {...Child} children
 * @returns {Drawn<K>}
 */
export function svg(tag, attrs, ...children) {
  return /** @type {Drawn<K>} */ (fill(document.createElementNS(SVG, tag), attrs, children));
}

/**
 * Replace all children of an element. Return the element.
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/**
 * Replace controls while keeping the keyboard focus. Does nothing while the user types in one of them.
 * @param {Element} element
 * @param {...Child} children
 * @returns {boolean} whether they were replaced
 */
export function renew(element, ...children) {
  const active = element.contains(document.activeElement) ? document.activeElement : null;
  if (active?.matches("input:is([type=text], [type=search], [type=number]), textarea")) return false;
  keepFocus(element, () => replace(element, ...children));
  return true;
}

/**
 * Set attributes, then append children. Return the element.
 * @param {Element} element
 * @param {Attributes | null | undefined} attrs
 * @param {Child[]} children
 */
function fill(element, attrs, children) {
  for (const [name, value] of Object.entries(attrs ?? {})) {
    setAttribute(element, name, value);
  }
  append(element, children);
  return element;
}

/**
 * Set an attribute, property, style or listener by its name. Null, undefined and false leave it out.
 * @param {Element} element
 * @param {string} name
 * @param {unknown} value
 */
function setAttribute(element, name, value) {
  if (value === null || value === undefined) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
  else if (name === "style") setStyle(/** @type {HTMLElement} */ (element), /** @type {Style} */ (value));
  else if (name === "value" || name === "checked" || name === "disabled" || name === "indeterminate") {
    Object.assign(element, { [name]: value });
  } else if (value === false && !name.startsWith("aria-")) return;
  else if (SPOKEN.has(name)) element.setAttribute(name, visible(String(value)));
  else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
}

/** Set CSS properties by name. @param {HTMLElement} element @param {Style} style */
function setStyle(element, style) {
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, String(value));
}

/**
 * Append children. Lists are flattened; null, undefined and false are skipped.
 * @param {Element} element
 * @param {Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) {
      element.append(typeof child === "object" ? /** @type {Node} */ (child) : visible(String(child)));
    }
  }
}

/**
 * Call `f` once, `delay` ms after the last call.
 * @template {unknown[]} A
 * @param {(...args: A) => void} f @param {number} delay
 * @returns {((...args: A) => void) & {cancel: () => void}}
 */
export function debounce(f, delay) {
  let timer = 0;
  const cancel = () => clearTimeout(timer);
  const later = (/** @type {A} */ ...args) => {
    cancel();
    timer = window.setTimeout(() => f(...args), delay);
  };
  return Object.assign(later, { cancel });
}

/**
 * Call `f` at most once per `gap` ms: at once, and at the end if there were calls between. `cancel()` drops
 * the call at the end.
 * @param {() => void} f @param {number} gap
 * @returns {(() => void) & {cancel: () => void}}
 */
export function throttle(f, gap) {
  let timer = 0;
  let pending = false;
  const run = () => {
    if (timer) {
      pending = true;
      return;
    }
    f();
    timer = window.setTimeout(() => {
      timer = 0;
      if (pending) {
        pending = false;
        run();
      }
    }, gap);
  };
  const cancel = () => {
    pending = false;
  };
  return Object.assign(run, { cancel });
}

/**
 * Call every subscriber with a value. An error of one is logged and does not keep the value from the others.
 * @template T
 * @param {Iterable<(told: T) => void>} subscribers
 * @param {T} told
 */
export function tell(subscribers, told) {
  for (const subscriber of subscribers) {
    try {
      subscriber(told);
    } catch (error) {
      console.error(error);
    }
  }
}
