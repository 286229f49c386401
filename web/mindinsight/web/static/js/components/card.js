// A box with a title, tools, a body and a foot line; can fill the window.

import { h } from "../core/dom.js";
import { iconButton } from "./button.js";

/**
 * @param {{title: string, href?: string, mark?: Node | null, tools?: HTMLElement[], body: Node,
 *   foot?: Node | string, full?: {label: string, onchange?: (full: boolean) => void}}} options
 */
export function card({ title, href, mark, tools = [], body, foot, full }) {
  const inner = h("div", { class: "body" }, body);
  const name = h("h2", { class: "ellipsis", title }, href ? h("a", { href }, title) : title);
  const footer = foot ? h("footer", null, foot) : null;
  const expand =
    full &&
    iconButton("expand", full.label, () => setFull(!element.classList.contains("full")), {
      "aria-pressed": false,
    });
  const element = h(
    "div",
    { class: "card", role: "group", "aria-label": title },
    h("header", null, name, mark, h("div", { class: "tools" }, tools, expand)),
    inner,
    footer,
  );

  /** @param {KeyboardEvent} event */
  const onkey = (event) => {
    if (event.key === "Escape") setFull(false);
  };

  /** @param {boolean} on */
  const setFull = (on) => {
    element.classList.toggle("full", on);
    expand?.setAttribute("aria-pressed", String(on));
    document[on ? "addEventListener" : "removeEventListener"]("keydown", /** @type {any} */ (onkey));
    full?.onchange?.(on);
  };
  return Object.assign(element, { inner, setFull });
}
