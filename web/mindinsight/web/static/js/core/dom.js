// DOM construction from plain values. Strings always become text nodes, so nothing from a file is parsed as
// markup. Invisible characters are shown as escapes, so that different names look different.

import { keepFocus } from "./focus.js";
import { visible } from "./names.js";

const SPOKEN = new Set(["title", "aria-label", "alt"]);
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false | any[]} Child a list may hold lists */

/**
 * Create an HTML element: h("button", {class: "quiet", onclick: f, "aria-pressed": true}, "Text").
 * @param {string} tag
 * @param {Record<string, any> | null} [attrs] on* are listeners, `style` an object, false and null leave out
 * @param {...Child} children
 * @returns {any}
 */
export function h(tag, attrs, ...children) {
  return fill(document.createElement(tag), attrs, children);
}

/**
 * Create an SVG element. Arguments are those of `h`.
 * @param {string} tag
 * @param {Record<string, any> | null} [attrs]
 * @param {...Child} children
 * @returns {any}
 */
export function svg(tag, attrs, ...children) {
  return fill(document.createElementNS(SVG, tag), attrs, children);
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
 * @param {Record<string, any> | null | undefined} attrs
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
 * @param {any} element
 * @param {string} name
 * @param {any} value
 */
function setAttribute(element, name, value) {
  if (value === null || value === undefined) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "style") setStyle(element, value);
  else if (name === "value" || name === "checked" || name === "disabled" || name === "indeterminate") {
    element[name] = value;
  } else if (value === false && !name.startsWith("aria-")) return;
  else if (SPOKEN.has(name)) element.setAttribute(name, visible(String(value)));
  else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
}

/** Set CSS properties by name. @param {HTMLElement} element @param {Record<string, any>} style */
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
      element.append(/** @type {any} */ (typeof child === "string" ? visible(child) : child));
    }
  }
}

/**
 * Call `f` once, `delay` ms after the last call.
 * @template {(...args: any[]) => void} F
 * @param {F} f @param {number} delay
 * @returns {F & {cancel: () => void}}
 */
export function debounce(f, delay) {
  let timer = 0;
  const later = /** @type {any} */ (
    (/** @type {any[]} */ ...args) => {
      clearTimeout(timer);
      timer = window.setTimeout(() => f(...args), delay);
    }
  );
  later.cancel = () => clearTimeout(timer);
  return later;
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
