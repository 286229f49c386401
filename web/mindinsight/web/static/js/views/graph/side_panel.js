// Side panel of the graph page: search above, and below it tabs. Its edge is dragged to make it wider.

import { h } from "../../core/dom.js";

const NARROWEST = 260;
const WIDEST = 760;
const STEP = 24; // px of an arrow key

/** @typedef {{name: string, label: string, element: HTMLElement}} Tab */

export class SidePanel {
  /**
   * @param {string} label
   * @param {string} handle name of the edge
   * @param {HTMLElement} above the tabs
   * @param {Tab[]} tabs
   */
  constructor(label, handle, above, tabs) {
    this.tabs = tabs;
    this.current = tabs[0].name;
    this.width = 340;
    this.buttons = tabs.map((tab) =>
      h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `graph-tab-${tab.name}`,
          "aria-controls": `graph-panel-${tab.name}`,
          onclick: () => this.show(tab.name),
          onkeydown: (/** @type {KeyboardEvent} */ event) => this.#pressed(event),
        },
        tab.label,
      ),
    );
    this.panels = tabs.map((tab) =>
      h(
        "div",
        {
          class: "graph-tab",
          role: "tabpanel",
          id: `graph-panel-${tab.name}`,
          "aria-labelledby": `graph-tab-${tab.name}`,
        },
        tab.element,
      ),
    );
    this.handle = this.#handle(handle);
    this.element = h(
      "aside",
      { class: "graph-side", "aria-label": label },
      this.handle,
      above,
      h("div", { class: "graph-tabs", role: "tablist", "aria-label": label }, this.buttons),
      this.panels,
    );
    this.show(this.current);
  }

  /** @param {string} name of a tab */
  show(name) {
    this.current = name;
    this.tabs.forEach((tab, i) => {
      const on = tab.name === name;
      this.panels[i].hidden = !on;
      this.buttons[i].setAttribute("aria-selected", String(on));
      this.buttons[i].tabIndex = on ? 0 : -1;
    });
  }

  /** Left and right arrows go from tab to tab. @param {KeyboardEvent} event */
  #pressed(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const at = this.tabs.findIndex((tab) => tab.name === this.current);
    const next = (at + by + this.tabs.length) % this.tabs.length;
    this.show(this.tabs[next].name);
    this.buttons[next].focus();
  }

  /** @param {string} label */
  #handle(label) {
    const move = (/** @type {PointerEvent} */ event) => {
      if (!event.buttons) return;
      this.#resize(this.element.getBoundingClientRect().right - event.clientX);
    };
    return h("div", {
      class: "graph-handle",
      role: "separator",
      tabindex: "0",
      "aria-orientation": "vertical",
      "aria-label": label,
      "aria-valuemin": NARROWEST,
      "aria-valuemax": WIDEST,
      "aria-valuenow": this.width,
      onpointerdown: (/** @type {PointerEvent} */ event) => {
        event.preventDefault();
        /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
      },
      onpointermove: move,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
        if (!by) return;
        event.preventDefault();
        this.#resize(this.width + by);
      },
    });
  }

  /** @param {number} width px */
  #resize(width) {
    this.width = Math.round(Math.min(WIDEST, Math.max(NARROWEST, width)));
    this.handle.setAttribute("aria-valuenow", String(this.width));
    this.element.parentElement?.style.setProperty("--graph-side-width", `${this.width}px`);
  }
}
