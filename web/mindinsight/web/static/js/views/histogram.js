// Histograms page: distribution of a tag's values over the steps of each run, or of all runs at one step.

import { shortenTitles } from "../components/card.js";
import { TagCards } from "../components/tag_cards.js";
import { h, renew } from "../core/dom.js";
import { cardsOf } from "./histogram/cards.js";
import { readOptions, writeOptions } from "./histogram/options.js";
import { toolbar } from "./histogram/toolbar.js";

const CODE = 'record.add_value("histogram", "fc.weight", weight)';

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./histogram/options.js").Options} Options */

/** Mount the page. @param {HTMLElement} root @param {App} app */
export function mount(root, app) {
  return new Histograms(root, app).open();
}

/** Cards of all tags. @extends {TagCards<import("./histogram/cards.js").Card>} */
class Histograms extends TagCards {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    super(root, app, "histogram", CODE);
    this.options = readOptions(app.url);
    this.reread();
  }

  /** Show what the address names after it changed. */
  reread() {
    this.options = readOptions(this.app.url);
    super.reread();
  }

  /** Redraw the cards in the colours of the theme. */
  paint() {
    this.cards.forEach((card) => card.paint());
  }

  /** Change the options and redraw. @param {Partial<Options>} changes */
  change(changes) {
    this.options = { ...this.options, ...changes };
    writeOptions(this.app.url, this.options);
    if ("axis" in changes || "scale" in changes) {
      this.paint();
      this.drawHead(); // it may have been changed in a card that fills the window
    } else if ("step" in changes) this.cards.forEach((card) => card.load());
    else this.build();
  }

  /** Draw the toolbar. */
  drawHead() {
    const change = (/** @type {Partial<Options>} */ changes) => this.change(changes);
    renew(
      this.head,
      h("div", { class: "toolbar" }, toolbar(this.app, this.options, this.filterBox(), change)),
    );
  }

  /** Create the cards of tags. @param {import("../core/tags.js").Tag[]} tags */
  makeCards(tags) {
    this.drawHead();
    const change = (/** @type {Partial<Options>} */ changes) => this.change(changes);
    const cards = cardsOf(this.app, tags, () => this.options, change);
    shortenTitles(cards.map((card) => card.element));
    return cards;
  }
}
