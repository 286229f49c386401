// Texts page: Markdown of every recorded step of every tag, with search and comparison.

import { searchBox } from "../components/field.js";
import { TagCards } from "../components/tag_cards.js";
import { h, replace } from "../core/dom.js";
import { TextCard } from "./text/card.js";

const CODE = 'record.add_value("text", "sample", "# Output\\n\\n*written* by the model")';

/** @typedef {import("../core/types.js").App} App */

/** Mount the page. @param {HTMLElement} root @param {App} app */
export function mount(root, app) {
  return new Texts(root, app).open();
}

/** Cards of all tags. @extends {TagCards<TextCard>} */
class Texts extends TagCards {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    super(root, app, "text", CODE);
    this.query = "";
    this.reread();
  }

  /** Show what the address names after it changed. */
  reread() {
    this.query = this.app.url.get("find", "");
    super.reread();
  }

  /** Draw the toolbar. */
  drawHead() {
    const { t, url } = this.app;
    const find = searchBox({
      label: t("text.find"),
      value: this.query,
      delay: 300,
      onchange: (text) => {
        this.query = text;
        url.set({ find: text || null });
        this.cards.forEach((card) => card.search());
      },
    });
    replace(this.head, h("div", { class: "toolbar" }, this.filterBox(), find));
  }

  /** Create the cards of tags. @param {import("../core/tags.js").Tag[]} tags */
  makeCards(tags) {
    return this.series(tags).map((series) => new TextCard(this.app, series, () => this.query));
  }

  /** Create the element around the cards. */
  arrange() {
    const cards = super.arrange();
    cards.classList.add("text-cards");
    return cards;
  }
}
