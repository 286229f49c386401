// Block of a report: a text, or a pinned card with a caption, and its tools.

import { iconButton } from "../../components/button.js";
import { markdown } from "../../components/markdown.js";
import { toast } from "../../components/toast.js";
import { h, replace } from "../../core/dom.js";
import { freeze } from "../../core/pins.js";
import { Editor } from "./editor.js";
import { FrozenCard } from "./frozen_card.js";
import { LiveCard } from "./live_card.js";

/**
 * @typedef {Object} Block
 * @property {string} id
 * @property {string} text
 * @property {number} version of the text
 * @property {import("../../components/markdown.js").Node[]} tree the text, rendered
 * @property {string} view page of a card; "" for a text
 * @property {string} query
 * @property {string} card title; "" for the whole page
 * @property {number} position among the cards of its title
 * @property {string} frozen name of what it showed; "" for a live card
 */

/** Block of a report on its page. */
export class BlockView {
  /** @param {import("./page.js").ReportPage} page @param {Block} block */
  constructor(page, block) {
    this.page = page;
    this.app = page.app;
    this.block = block;
    /** What is shown now, until it changes. */
    this.shown = { text: "", card: "" };
    /** @type {LiveCard | FrozenCard | null} */
    this.card = null;
    /** @type {Editor | null} */
    this.editor = null;
    this.tools = h("div", { class: "toolbar block-tools" });
    this.holder = h("div", { class: "block-card" });
    this.text = h("div", { class: "block-text" });
    this.element = h("section", { class: "report-block" }, this.tools, this.holder, this.text);
  }

  /**
   * Show the newest version of the block. A text that is being edited stays.
   * @param {Block} block as it is now
   */
  take(block) {
    this.block = block;
    const text = `${block.version} ${block.text}`;
    const card = block.view && `${block.view} ${block.query} ${block.card} ${block.position} ${block.frozen}`;
    if (text !== this.shown.text && !this.editor) this.drawText();
    if (card !== this.shown.card) this.drawCard();
    if (card !== this.shown.card || !this.tools.firstChild) this.drawTools();
    this.shown = { text: this.editor ? this.shown.text : text, card };
  }

  /** Draw the text. */
  drawText() {
    const { block } = this;
    replace(this.text, block.text ? markdown(block.tree) : null);
    this.text.hidden = !block.text && Boolean(block.view);
    if (!block.text && !block.view) {
      replace(this.text, h("p", { class: "muted small block-empty" }, this.app.t("reports.no_text")));
    }
  }

  /** Draw the card, live or frozen. */
  drawCard() {
    const { app, block } = this;
    this.card?.end();
    this.card = null;
    if (block.view) {
      this.card = block.frozen
        ? new FrozenCard(app, `${this.page.path}/frozen/${block.frozen}`, block)
        : new LiveCard(app, block);
    }
    replace(this.holder, this.card?.element);
  }

  /** Draw the tools. */
  drawTools() {
    const { app, block, page } = this;
    const { t } = app;
    const change = (/** @type {object} */ body) => page.change("PATCH", `/blocks/${block.id}`, body);
    replace(
      this.tools,
      block.view
        ? h("a", { class: "button quiet", href: app.url.at(block.view, block.query) }, t("reports.open_page"))
        : null,
      block.view && !block.frozen ? this.tool("pause", "reports.freeze", () => this.freeze()) : null,
      block.view && block.frozen ? this.tool("play", "reports.thaw", () => change({ action: "thaw" })) : null,
      this.tool("edit", block.view ? "reports.caption" : "reports.edit", () => this.edit()),
      this.tool("up", "reports.up", () => this.move(-1)),
      this.tool("down", "reports.down", () => this.move(1)),
      this.tool("plus", "reports.insert", () => page.write(block.id)),
      this.tool("close", "reports.remove", () => this.remove()),
    );
  }

  /** Create an icon button. @param {string} icon @param {string} label @param {() => void} press */
  tool(icon, label, press) {
    return iconButton(icon, this.app.t(label), press);
  }

  /** Move the block up or down. @param {number} by */
  move(by) {
    const ids = this.page.report?.blocks.map((block) => block.id) ?? [];
    const at = ids.indexOf(this.block.id) + by;
    if (at < 0 || at >= ids.length) return;
    const after = by > 0 ? ids[at] : (ids[at - 1] ?? "");
    this.page.change("PATCH", `/blocks/${this.block.id}`, { action: "move", after });
  }

  /** Freeze a live card with its current content. */
  async freeze() {
    const shown = this.card?.shown();
    if (!shown) return;
    const { app, block, page } = this;
    try {
      const frozen = await freeze(/** @type {LiveCard} */ (this.card).inner, shown);
      await page.change("PATCH", `/blocks/${block.id}`, { action: "freeze", frozen });
    } catch (error) {
      toast(app.t("error.load", { why: String(error) }), { bad: true });
    }
  }

  /** Delete the block. */
  remove() {
    this.page.change("DELETE", `/blocks/${this.block.id}`);
  }

  /** Open the editor of the text. */
  edit() {
    if (this.editor) return;
    this.text.hidden = false;
    this.editor = new Editor(this.app, this.block, {
      save: (text, version) => this.page.change("PUT", `/blocks/${this.block.id}`, { text, version }),
      theirs: () => this.block,
      done: () => {
        this.editor = null;
        this.drawText();
        this.shown.text = `${this.block.version} ${this.block.text}`;
      },
      follow: () => this.page.follow(),
    });
    replace(this.text, this.editor.element);
    this.editor.focus();
  }

  /** Pass a change of data on to a live card. @param {import("../../core/types.js").Change} change */
  update(change) {
    this.card?.update(change);
  }

  /** Remove editor and card. */
  end() {
    this.editor?.end();
    this.card?.end();
  }
}
