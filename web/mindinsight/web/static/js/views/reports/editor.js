// Markdown editor. The text is saved when the editor loses the focus, but never over somebody else's newer
// version.

import { button } from "../../components/button.js";
import { markdown } from "../../components/markdown.js";
import { h, replace } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("./block.js").Block} Block */
/**
 * @typedef {Object} Options
 * @property {(text: string, version: number) => Promise<Failure | null>} save gives the error, if any
 * @property {() => Block} theirs the block as it is now
 * @property {() => void} done called when there is nothing more to edit
 * @property {() => unknown} follow reads the report again
 */

const LONGEST = 100_000; // characters

/** Markdown editor of one block's text in a report. */
export class Editor {
  /**
   * @param {import("../../core/types.js").App} app
   * @param {Block} block as it is when the editing begins
   * @param {Options} options
   */
  constructor(app, block, options) {
    this.app = app;
    this.block = block;
    this.options = options;
    this.version = block.version;
    this.ended = false;
    this.saving = false;
    this.box = h("textarea", {
      value: block.text,
      rows: 4,
      maxlength: LONGEST,
      "aria-label": app.t("reports.text"),
      placeholder: app.t("reports.markdown"),
      oninput: () => this.fit(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
    this.notice = h("div", { class: "stack", role: "alert" });
    this.element = this.frame();
  }

  /** Create the text box with its buttons. */
  frame() {
    const { t } = this.app;
    const controls = h(
      "div",
      { class: "row wrap small" },
      button(t("common.save"), () => this.keep(), { class: "primary" }),
      button(t("common.cancel"), () => this.finish()),
      h("span", { class: "muted" }, t("reports.keys")),
    );
    const onfocusout = (/** @type {FocusEvent} */ event) => {
      const next = /** @type {Node | null} */ (event.relatedTarget);
      if (!next || !this.element.contains(next)) this.left();
    };
    return h("div", { class: "stack report-editor", onfocusout }, this.notice, this.box, controls);
  }

  /** Focus the text box. */
  focus() {
    this.fit();
    this.box.focus();
  }

  /** Make the text box as tall as its text. */
  fit() {
    this.box.style.height = "auto";
    this.box.style.height = `${this.box.scrollHeight + 2}px`;
  }

  /** Save with Ctrl+Enter, cancel with Escape. @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape") this.finish();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.keep();
    else return;
    event.preventDefault();
  }

  /** Close the editor without saving. */
  finish() {
    if (this.ended) return;
    this.ended = true;
    this.options.done();
  }

  /** Save the text and close; on a conflict ask which version to keep. */
  async keep() {
    if (this.ended || this.saving) return;
    if (this.box.value === this.block.text && this.version === this.block.version) {
      this.finish();
      return;
    }
    this.saving = true;
    const error = await this.options.save(this.box.value, this.version);
    this.saving = false;
    if (!error) this.finish();
    else if (error.code === "block_changed") await this.conflict();
  }

  /** Save when the focus leaves the editor. */
  left() {
    if (document.hasFocus() && !this.notice.firstChild) this.keep();
  }

  /** Show the other person's version and ask which one to keep. */
  async conflict() {
    const { t } = this.app;
    await this.options.follow();
    const other = this.options.theirs();
    const mine = () => {
      this.version = other.version;
      replace(this.notice);
      this.keep();
    };
    replace(
      this.notice,
      h("p", { class: "fault" }, t("error.block_changed")),
      h("div", { class: "card report-theirs" }, markdown(other.tree)),
      h(
        "div",
        { class: "row wrap" },
        button(t("reports.keep_mine"), mine),
        button(t("reports.take_theirs"), () => this.finish()),
      ),
    );
  }

  /** Save unsaved text because the page is being left. */
  end() {
    if (!this.ended && this.box.value !== this.block.text) this.options.save(this.box.value, this.version);
    this.ended = true;
  }
}
