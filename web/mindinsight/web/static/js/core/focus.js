// Keyboard focus across rebuilds: the new element with the same name gets the focus.

const FOCUSABLE = "button, input, select, textarea, a[href], [tabindex]";

/**
 * Run `rebuild`, which replaces or reorders children, then restore the focus. The control is found again by
 * the `data-key` of its row and its own name.
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
 * Return the identity of a control: the `data-key` of its row, and its `data-focus` or label.
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
