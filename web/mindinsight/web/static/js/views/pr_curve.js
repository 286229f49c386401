// PR curves page: PR or ROC curves of all selected runs at one step, and the area under them by step.

import { segments } from "../components/button.js";
import { slider } from "../components/field.js";
import { TagCards } from "../components/tag_cards.js";
import { h, replace } from "../core/dom.js";
import { prCurveCard } from "./pr_curve/card.js";

const CODE = 'record.add_value("pr_curve", "cats", (labels, predictions))';

/** @typedef {import("../core/types.js").App} App */

/** Mount the page. @param {HTMLElement} root @param {App} app */
export function mount(root, app) {
  return new PrCurves(root, app).open();
}

/** Cards of all tags with a shared step. @extends {TagCards<import("./pr_curve/card.js").Card>} */
class PrCurves extends TagCards {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    super(root, app, "pr_curve", CODE);
    /** @type {number | null} the step that a person chose; the newest is followed otherwise */
    this.step = null;
    this.roc = false;
    /** Steps of the cards that were read. @type {Set<number>} */
    this.steps = new Set();
    this.move = slider({
      label: app.t("pr_curve.step"),
      values: [0],
      value: 0,
      delay: 60,
      onchange: (step) => this.pick(step),
    });
    this.reread();
  }

  /** Show what the address names after it changed. */
  reread() {
    const at = this.app.url.get("at");
    this.step = at === null ? null : Number(at);
    this.roc = this.app.url.get("curve") === "roc";
    super.reread();
  }

  /** Draw the toolbar. */
  drawHead() {
    const curve = segments({
      label: this.app.t("pr_curve.curve"),
      options: ["pr", "roc"].map((value) => ({ value, label: this.app.t(`pr_curve.curve.${value}`) })),
      value: this.roc ? "roc" : "pr",
      onchange: (value) => this.draw(value === "roc"),
    });
    replace(this.head, h("div", { class: "toolbar" }, curve, this.filterBox(), this.move));
  }

  /** Draw ROC curves, or precision over recall. @param {boolean} roc */
  draw(roc) {
    this.roc = roc;
    this.app.url.set({ curve: roc ? "roc" : null });
    this.paint();
  }

  /** Redraw the cards in the colours of the theme. */
  paint() {
    this.cards.forEach((card) => card.paint());
  }

  /** Show a step. The newest step is followed from then on. @param {number} step */
  pick(step) {
    this.step = step === Math.max(...this.steps) ? null : step;
    this.app.url.set({ at: this.step });
    this.cards.forEach((card) => card.readCurves());
  }

  /** Return the step to draw. Each run shows its curve nearest to it. */
  shownStep() {
    return this.step ?? Math.max(...this.steps, 0);
  }

  /** Add the steps that a card has read. @param {ArrayLike<number>} steps */
  takeSteps(steps) {
    const before = this.steps.size;
    Array.from(steps).forEach((step) => this.steps.add(step));
    if (this.steps.size === before) return;
    this.move.setValues([...this.steps].sort((a, b) => a - b));
    this.move.set(this.shownStep());
    if (this.step === null) this.cards.forEach((card) => card.readCurves());
  }

  /** Create the cards of tags. @param {import("../core/tags.js").Tag[]} tags */
  makeCards(tags) {
    this.steps.clear();
    this.move.hidden = !tags.length;
    return tags.map((tag) => prCurveCard(this.app, tag, this));
  }
}
