// Keyboard focus across rebuilds: the new element of the same name takes it over.

const FOCUSABLE = "button, input, select, textarea, a[href], [tabindex]";

/**
 * Rebuild or reorder the inside of an element. The control that had the focus, or the new one that is found
 * by the `data-key` of its row and its own name, has the focus afterwards: an element that is moved loses it.
 * @param {Element} element
 * @param {() => void} rebuild
 */
export function keepFocus(element, rebuild) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const name = active && element !== active && element.contains(active) ? nameOf(active) : null;
  rebuild();
  if (name === null || document.activeElement === active) return;
  if (active?.isConnected) {
    active.focus({ preventScroll: true });
    return;
  }
  /** @type {NodeListOf<HTMLElement>} */
  const controls = element.querySelectorAll(FOCUSABLE);
  [...controls].find((control) => nameOf(control) === name)?.focus({ preventScroll: true });
}

/**
 * The name of a control: its `data-focus`, else what a person is told of it.
 * @param {Element} control
 */
function nameOf(control) {
  const row = control.closest("[data-key]")?.getAttribute("data-key");
  const label =
    control.getAttribute("aria-label") ??
    control.closest("label")?.querySelector("span")?.textContent ??
    control.textContent;
  return JSON.stringify([row, control.getAttribute("data-focus") ?? [control.tagName, label]]);
}
