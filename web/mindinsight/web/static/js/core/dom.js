// Elements from plain values. Text always becomes a text node: nothing from a file is ever markup. Characters
// that cannot be seen are shown as escapes, so that two names that differ look different.

import { keepFocus } from "./focus.js";
import { visible } from "./names.js";

const SPOKEN = new Set(["title", "aria-label", "alt"]);
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false | any[]} Child a list may hold lists */

/**
 * h("button", {class: "quiet", onclick: f, "aria-pressed": true}, "Text")
 * @param {string} tag
 * @param {Record<string, any> | null} [attrs] on* are listeners, `style` an object, false and null leave out
 * @param {...Child} children
 * @returns {any}
 */
export function h(tag, attrs, ...children) {
  return fill(document.createElement(tag), attrs, children);
}

/**
 * The same for SVG.
 * @param {string} tag
 * @param {Record<string, any> | null} [attrs]
 * @param {...Child} children
 * @returns {any}
 */
export function svg(tag, attrs, ...children) {
  return fill(document.createElementNS(SVG, tag), attrs, children);
}

/**
 * Replace everything inside an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/**
 * Replace controls by newer ones; the control with the focus keeps it. While somebody writes in a text box,
 * nothing is replaced.
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

/** @param {any} element @param {string} name @param {any} value */
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

/** @param {HTMLElement} element @param {Record<string, any>} style */
function setStyle(element, style) {
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, String(value));
}

/** @param {Element} element @param {Child[]} children */
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
 * Call every subscriber with `told`. One that throws does not keep it from the others: the error is logged.
 * @template T @param {Iterable<(told: T) => void>} subscribers @param {T} told
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
