// Arrangement of the cards of tags, kept in the address: their order, their sizes, and which are hidden.

import {
  afterMove,
  followerAfterDrop,
  joinFields,
  readSpans,
  splitFields,
  withMoves,
  writeSpans,
} from "../core/arrangement.js";
import { h, replace } from "../core/dom.js";
import { button, iconButton, menuItem } from "./button.js";
import { applySpan, sizeChoices, sizeCorner, spanOf } from "./card_size.js";
import { menu } from "./dialog.js";
import { draggable, dropTarget } from "./movable.js";

/** @typedef {import("../core/types.js").App} App */
/**
 * @typedef {Object} State
 * @property {import("../core/arrangement.js").Move[]} moves tags that somebody moved
 * @property {string[]} hidden tags
 * @property {Map<string, [number, number]>} spans tag -> columns and rows of its cards
 */

const TAG = "tag"; // what is dragged

/**
 * Arrangement of the cards of one page, kept in the address: order, sizes, and which are hidden. A tag has a
 * card in each run, and all of them are arranged alike.
 */
export class TagArrangement {
  /**
   * @param {App} app
   * @param {{rebuild: () => void, columns: () => number, resizable: boolean}} page `columns`: of its grid
   */
  constructor(app, { rebuild, columns, resizable }) {
    this.app = app;
    this.rebuild = rebuild;
    this.columns = columns;
    this.resizable = resizable;
    /** Shown tags in order. @type {string[]} */
    this.tags = [];
    /** Cards by tag. @type {Map<string, HTMLElement[]>} */
    this.cards = new Map();
    this.count = h("span", { class: "badge" });
    this.opener = button([app.t("scalar.arrange"), this.count], () => this.openMenu(), {
      class: "link opens command",
      "aria-haspopup": "dialog",
      "aria-expanded": "false",
    });
    this.element = h("div", { class: "tag-bar small" }, this.opener);
    this.reread();
  }

  /** Read the arrangement from the address. */
  reread() {
    const { url } = this.app;
    /** @type {State} */
    this.state = {
      moves: splitFields(url.all("put"), 2).map(([tag, before]) => [tag, before]),
      hidden: url.all("hide"),
      spans: readSpans(url.all("span")),
    };
  }

  /** Return the arrangement. */
  options() {
    return /** @type {State} */ (this.state);
  }

  /** Change the arrangement. @param {Partial<State>} some */
  change(some) {
    this.state = { ...this.options(), ...some };
    const { moves, hidden, spans } = this.options();
    this.app.url.set({ put: moves.map(joinFields), hide: hidden, span: writeSpans(spans) });
    if ("moves" in some || "hidden" in some) this.rebuild();
    else this.cards.forEach((elements, tag) => this.applySpans(tag, elements));
  }

  /**
   * Return the shown tags in order.
   * @template {{tag: string}} T
   * @param {T[]} all in default order
   * @returns {T[]}
   */
  arranged(all) {
    const { moves, hidden } = this.options();
    const byName = new Map(all.map((entry) => [entry.tag, entry]));
    this.tags = withMoves([...byName.keys()], moves).filter((tag) => !hidden.includes(tag));
    this.cards.clear();
    this.element.hidden = !this.isArranged();
    this.count.hidden = !hidden.length;
    replace(this.count, hidden.length ? this.app.t("scalar.arrange.hidden", { n: hidden.length }) : null);
    return this.tags.flatMap((tag) => byName.get(tag) ?? []);
  }

  /** Whether somebody arranged anything. */
  isArranged() {
    const { moves, hidden, spans } = this.options();
    return moves.length + hidden.length + spans.size > 0;
  }

  /** Make a card movable and give it a menu; its title is the tag. @param {HTMLElement} card */
  equip(card) {
    const tag = card.getAttribute("aria-label") ?? "";
    const elements = this.cards.get(tag) ?? [];
    this.cards.set(tag, [...elements, card]);
    card.classList.add("arranged");
    const tools = card.querySelector(":scope > header > .tools");
    /** @type {HTMLButtonElement} */
    const more = iconButton("more", this.app.t("scalar.arrange.card"), () => {
      const box = menu(
        more,
        h(
          "div",
          { class: "stack" },
          this.cardItems(tag, () => box.close()),
        ),
        this.app.t("scalar.arrange.card"),
      );
    });
    tools?.insertBefore(more, tools.lastElementChild);
    draggable(/** @type {HTMLElement} */ (card.querySelector(":scope > header")), TAG, tag);
    dropTarget(card, TAG, (dragged) => dragged === tag || this.drop(dragged, tag));
    if (this.resizable) card.append(sizeCorner(this, tag, () => card));
    this.applySpans(tag, [card]);
  }

  /** Give cards the size of their tag. @param {string} tag @param {HTMLElement[]} elements */
  applySpans(tag, elements) {
    const span = spanOf(this, tag);
    elements.forEach((element) => applySpan(element, span));
  }

  /** Move a tag to the place of another one. @param {string} tag @param {string} target */
  drop(tag, target) {
    this.move(tag, followerAfterDrop(this.tags, tag, target));
  }

  /** Move a tag in front of another one, or with "" to the end. @param {string} tag @param {string} before */
  move(tag, before) {
    this.change({ moves: afterMove(this.tags, this.options().moves, tag, before) });
  }

  /** Create the entries of a card's menu. @param {string} tag @param {() => void} close */
  cardItems(tag, close) {
    const { t } = this.app;
    const at = this.tags.indexOf(tag);
    const move = (/** @type {string} */ label, /** @type {number} */ to) => {
      const apply = () => (close(), this.move(tag, this.tags[to] ?? ""));
      return menuItem(t(label), apply, to < 0 || to > this.tags.length);
    };
    const hide = () => (close(), this.change({ hidden: [...this.options().hidden, tag] }));
    return [
      move("scalar.arrange.earlier", at - 1),
      move("scalar.arrange.later", at + 2),
      this.resizable && sizeChoices(this, tag),
      menuItem(t("scalar.arrange.hide"), hide),
    ];
  }

  /** Open the menu that shows hidden cards again. */
  openMenu() {
    const { t } = this.app;
    const { hidden } = this.options();
    const then = (/** @type {Partial<State>} */ some) => () => (box.close(), this.change(some));
    const show = (/** @type {string} */ tag) =>
      menuItem(
        t("scalar.arrange.show", { title: tag }),
        then({ hidden: hidden.filter((other) => other !== tag) }),
      );
    const items = [
      hidden.length > 1 && menuItem(t("scalar.arrange.show_all"), then({ hidden: [] })),
      h("div", { class: "stack hidden-cards" }, hidden.map(show)),
      menuItem(
        t("scalar.arrange.reset"),
        then({ moves: [], hidden: [], spans: new Map() }),
        !this.isArranged(),
      ),
    ];
    const box = menu(this.opener, h("div", { class: "stack" }, items), t("scalar.arrange"));
  }
}
