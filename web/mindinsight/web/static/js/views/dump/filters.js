// Filters of the tensor table: name, type, direction, source line, and the range of a statistic.

import { button } from "../../components/button.js";
import { check, searchBox, select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { DEFAULTS, FILTERS, STATISTICS } from "../../components/dump/state.js";

/** @typedef {import("../dump.js").Page} Page */

const DIRECTIONS = ["input", "output", "parameter", "constant"];

/**
 * Create the filters of the tensor table: name, type, direction, source line, and range of a statistic.
 * @param {Page} page
 */
export function filterBar(page) {
  return new FilterBar(page);
}

/** Filters of the tensor table. */
class FilterBar {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.t = page.app.t;
    this.lists = h("span", { class: "row wrap" });
    this.range = h("span", { class: "row wrap" });
    this.element = h("div", { class: "toolbar dump-filters" });
    this.clear = button(this.t("dump.filter.reset"), () => this.reset(), { class: "link" });
    /** What the lists offer, to be drawn again only when it is another. */
    this.offered = "";
    this.draw();
  }

  /** Draw all filters. */
  draw() {
    const { state, change } = this.page;
    const { t } = this;
    replace(
      this.element,
      searchBox({ label: t("dump.filter.operator"), value: state.q, onchange: (q) => change({ q }) }),
      searchBox({
        label: t("dump.filter.source"),
        placeholder: t("dump.filter.source_how"),
        value: state.source,
        onchange: (source) => change({ source }),
      }),
      this.lists,
      check({ label: t("dump.filter.lost"), checked: state.lost, onchange: (lost) => change({ lost }) }),
      this.range,
      this.clear,
    );
    this.offerClear();
    this.offered = "";
    this.drawRange();
  }

  /** Show the reset button if any filter is set. */
  offerClear() {
    const { state } = this.page;
    this.clear.hidden = FILTERS.every((key) => state[key] === DEFAULTS[key]);
  }

  /** Reset all filters. */
  reset() {
    this.page.change(Object.fromEntries(FILTERS.map((key) => [key, DEFAULTS[key]])));
    this.draw();
  }

  /** Draw the range filter. */
  drawRange() {
    const { state, change } = this.page;
    const { t } = this;
    const by = select({
      label: t("dump.filter.by"),
      options: ["", ...STATISTICS].map((value) => ({
        value,
        label: value ? t(`dump.statistic.${value}`) : "–",
      })),
      value: state.by,
      onchange: (value) => {
        change({ by: value });
        this.drawRange();
      },
    });
    replace(this.range, by, state.by && [this.bound("least"), this.bound("most")]);
  }

  /** Create the input of one end of the range. @param {"least" | "most"} key */
  bound(key) {
    const { state, change } = this.page;
    return h("input", {
      type: "number",
      step: "any",
      value: state[key],
      placeholder: this.t(`dump.filter.${key}`),
      "aria-label": this.t(`dump.filter.${key}`),
      onchange: (event) => change({ [key]: /** @type {HTMLInputElement} */ (event.target).value }),
    });
  }

  /**
   * Offer the types and dtypes that the tensors have.
   * @param {{types: string[], dtypes: string[]}} response
   */
  update({ types, dtypes }) {
    this.offerClear();
    const offered = JSON.stringify([types, dtypes]);
    if (offered === this.offered) return;
    this.offered = offered;
    const direction = (/** @type {string} */ value) => this.t(`dump.direction.${value}`);
    replace(
      this.lists,
      this.list("type", types),
      this.list("dtype", dtypes),
      this.list("direction", DIRECTIONS, direction),
    );
  }

  /**
   * Create a select of values.
   * @param {"type" | "dtype" | "direction"} key
   * @param {string[]} values
   * @param {(value: string) => string} [label]
   */
  list(key, values, label = (value) => value) {
    const { state, change } = this.page;
    return select({
      label: this.t(`dump.filter.${key}`),
      options: [
        { value: "", label: this.t("common.any") },
        ...values.map((value) => ({ value, label: label(value) })),
      ],
      value: state[key],
      onchange: (value) => change({ [key]: value }),
    });
  }
}
