// Card: a box with a title, tools, a body and a footer, which can fill the window.

import { h, replace } from "../core/dom.js";
import { commonStart } from "../core/names.js";
import { iconButton } from "./button.js";
import { fullWindow } from "./full_window.js";
import { icon } from "./icons.js";
import { longName } from "./long_name.js";

/**
 * Create a card. `setFull(on)` lets it fill the window; `shorten(start)` hides the beginning of its title.
 * @param {{title: string, href?: string, mark?: Node | null, tools?: HTMLElement[], body: Node, foot?: Node |
 *   string, full?: import("./full_window.js").Full & {label: string, close: string}}} options
 */
export function card({ title, href, mark, tools = [], body, foot, full }) {
  const inner = h("div", { class: "body" }, body);
  const text = (/** @type {string} */ start) => longName(title, { start });
  const heading = (start = "") => (href ? h("a", { href }, text(start)) : text(start));
  const name = h("h2", { class: "ellipsis" }, heading());
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
  const filling = full && fullWindow(element, title, full);

  /** @param {boolean} on */
  const setFull = (on) => {
    if (on) filling?.open();
    else filling?.close();
  };
  filling?.onchange((on) => {
    element.classList.toggle("full", on);
    if (!expand) return;
    const label = on ? full.close : full.label;
    expand.setAttribute("aria-pressed", String(on));
    expand.setAttribute("aria-label", label);
    expand.title = label;
    replace(expand, icon(on ? "close" : "expand"));
    full.onchange?.(on);
  });
  let left = "";
  /** Leave the beginning out that the card shares with others. @param {string} start */
  const shorten = (start) => {
    if (start !== left) replace(name, heading(start));
    left = start;
  };
  return Object.assign(element, { inner, setFull, shorten });
}

/**
 * Hide the beginning that the titles of all given cards share.
 * @param {(HTMLElement & {shorten?: (start: string) => void})[]} cards made by `card`
 */
export function shortenTitles(cards) {
  const start = commonStart(cards.map((element) => element.getAttribute("aria-label") ?? ""));
  cards.forEach((element) => element.shorten?.(start));
}
