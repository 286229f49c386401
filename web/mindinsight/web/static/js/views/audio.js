// Audio page: every recorded step of every tag. With linked steps all cards show the same one.

import { check } from "../components/field.js";
import { TagCards } from "../components/tag_cards.js";
import { h, replace } from "../core/dom.js";
import { AudioCard } from "./audio/card.js";

const CODE = 'record.add_value("audio", "voice", (samples, 16000))';

/** @typedef {import("../core/types.js").App} App */

/** Mount the page. @param {HTMLElement} root @param {App} app */
export function mount(root, app) {
  return new Sounds(root, app).open();
}

/** List of audio cards with shared options. @extends {TagCards<AudioCard>} */
class Sounds extends TagCards {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    super(root, app, "audio", CODE, false);
    this.linked = false;
    /** @type {number | null} the step of all cards */
    this.step = null;
    this.reread();
  }

  /** Show what the address names after it changed. */
  reread() {
    const { url } = this.app;
    const at = url.get("at");
    this.linked = url.get("link") === "1";
    this.step = at === null ? null : Number(at);
    super.reread();
  }

  /** Draw the toolbar. */
  drawHead() {
    const { t, url } = this.app;
    const linked = check({
      label: t("audio.linked"),
      checked: this.linked,
      onchange: (on) => {
        this.linked = on;
        url.set({ link: on ? "1" : null, at: on ? this.step : null });
      },
    });
    replace(this.head, h("div", { class: "toolbar" }, this.filterBox(), linked));
  }

  /** Redraw the cards in the colours of the theme. */
  paint() {
    this.cards.forEach((card) => card.paint());
  }

  /** Return the step that all cards show; null for each card's newest. */
  wantedStep() {
    return this.linked ? this.step : null;
  }

  /** Show a step on all cards if they are linked. @param {number} step */
  onstep(step) {
    this.step = step;
    if (!this.linked) return;
    this.app.url.set({ at: step });
    this.cards.forEach((card) => card.show(step));
  }

  /** Create the cards of tags. @param {import("../core/tags.js").Tag[]} tags */
  makeCards(tags) {
    return this.series(tags).map((series) => new AudioCard(this.app, series, this));
  }
}
