// Side panel of the graph page: search above, tabs below. Its width can be dragged.

import { resizeHandle } from "../../components/resize_handle.js";
import { h } from "../../core/dom.js";

const NARROWEST = 260;
const WIDEST = 760;

/** @typedef {{name: string, label: string, element: HTMLElement}} Tab */

/** Side panel of the graph page, with tabs. */
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
    const edge = resizeHandle({
      label: handle,
      edge: "left",
      width: 340,
      narrowest: NARROWEST,
      widest: WIDEST,
      onresize: (width) => this.element.parentElement?.style.setProperty("--graph-side-width", `${width}px`),
    });
    this.element = h(
      "aside",
      { class: "graph-side", "aria-label": label },
      edge,
      above,
      h("div", { class: "graph-tabs", role: "tablist", "aria-label": label }, this.buttons),
      this.panels,
    );
    this.show(this.current);
  }

  /** Show a tab. @param {string} name of a tab */
  show(name) {
    this.current = name;
    this.tabs.forEach((tab, i) => {
      const on = tab.name === name;
      this.panels[i].hidden = !on;
      this.buttons[i].setAttribute("aria-selected", String(on));
      this.buttons[i].tabIndex = on ? 0 : -1;
    });
  }

  /** Move between tabs with the left and right arrow keys. @param {KeyboardEvent} event */
  #pressed(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const at = this.tabs.findIndex((tab) => tab.name === this.current);
    const next = (at + by + this.tabs.length) % this.tabs.length;
    this.show(this.tabs[next].name);
    this.buttons[next].focus();
  }
}
