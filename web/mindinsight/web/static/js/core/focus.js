// Keyboard focus across rebuilds: the new element of the same name takes it over.

const FOCUSABLE = "button, input, select, textarea, a[href], [tabindex]";

/**
 * Rebuild the inside of an element. The control that had the focus is found again by the `data-key` of its
 * row and its own name, and has the focus afterwards.
 * @param {Element} element
 * @param {() => void} rebuild
 */
export function keepFocus(element, rebuild) {
  const { activeElement: active } = document;
  const name = active && element !== active && element.contains(active) ? nameOf(active) : null;
  rebuild();
  if (name === null || active?.isConnected) return;
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
