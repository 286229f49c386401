// Images page: every recorded step of every tag. With linked steps all cards show the same one.

import { button } from "../components/button.js";
import { check, slider } from "../components/field.js";
import { TagCards } from "../components/tag_cards.js";
import { h, replace } from "../core/dom.js";
import { ImageCard } from "./image/card.js";
import { compareDialog } from "./image/compare.js";

const CODE = 'record.add_value("image", "input", images)  # NCHW';

/** @typedef {import("../core/types.js").App} App */
/** @typedef {ReturnType<typeof readOptions>} Options */
/** @typedef {import("../core/tags.js").Tag} Tag */

/** Mount the page. @param {HTMLElement} root @param {App} app */
export function mount(root, app) {
  return new Images(root, app).open();
}

/** Grid of image cards with shared options. @extends {TagCards<ImageCard>} */
class Images extends TagCards {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    super(root, app, "image", CODE);
    this.state = readOptions(app.url);
    /** Runs with a column; cells with cards or notes. @type {{runs: string[], cells: HTMLElement[]}} */
    this.grid = { runs: [], cells: [] };
    this.reread();
  }

  /** Return the options of all cards. */
  options() {
    return this.state;
  }

  /** Show what the address names after it changed. */
  reread() {
    Object.assign(this.state, readOptions(this.app.url));
    super.reread();
  }

  /** Redraw the cards in the colours of the theme. */
  paint() {
    this.cards.filter((card) => card.steps.length).forEach((card) => card.note());
  }

  /** Change options and apply them to the cards. @param {Partial<Options>} changes */
  change(changes) {
    Object.assign(this.state, changes);
    writeOptions(this.app.url, this.state);
    this.cards.forEach((card) => card.style());
  }

  /** Show a step on all cards. @param {number} step */
  onstep(step) {
    this.state.step = step;
    writeOptions(this.app.url, this.state);
    this.cards.forEach((card) => card.show(step));
  }

  /** Open the comparison of two images. @param {import("./image/compare.js").Choice} choice */
  compare(choice) {
    compareDialog(this.app, choice, this.tags ?? []);
  }

  /** Draw the toolbar. */
  drawHead() {
    const { t } = this.app;
    const reset = () => {
      this.change({ brightness: 1, contrast: 1 });
      this.drawHead();
    };
    const change = (/** @type {Partial<Options>} */ changes) => this.change(changes);
    const controls = [
      this.filterBox(),
      ...imageControls(this.app, this.state, change),
      button(t("image.reset"), reset),
    ];
    replace(this.head, h("div", { class: "toolbar" }, controls));
  }

  /** Create the cards of tags, and a note for each run without one. @param {Tag[]} tags */
  makeCards(tags) {
    const { app } = this;
    const runs = columnsOf(
      app.selection.runs().map((run) => run.id),
      tags,
    );
    /** @type {ImageCard[]} */
    const cards = [];
    const cells = tags.flatMap(({ tag, runs: having }) =>
      runs.map((run) => {
        if (!having.includes(run)) {
          return h("div", { class: "image-missing muted small" }, app.t("image.not_here"));
        }
        cards.push(new ImageCard(app, { tag, run }, this));
        return cards[cards.length - 1].element;
      }),
    );
    this.grid = { runs, cells };
    return cards;
  }

  /** Create the element around the cards. */
  arrange() {
    return imageGrid(this.app, this.grid.cells, this.grid.runs.length);
  }
}

/**
 * Create the controls of step, size and colours.
 * @param {App} app
 * @param {Options} options
 * @param {(some: Partial<Options>) => void} change
 */
function imageControls({ t }, options, change) {
  const range = { min: 0.1, max: 3, step: 0.05 };
  const linked = t("image.linked");
  const actual = t("image.actual");
  return [
    check({ label: linked, checked: options.linked, onchange: (on) => change({ linked: on }) }),
    check({ label: actual, checked: options.actual, onchange: (on) => change({ actual: on }) }),
    slider({
      ...range,
      label: t("image.brightness"),
      value: options.brightness,
      onchange: (brightness) => change({ brightness }),
    }),
    slider({
      ...range,
      label: t("image.contrast"),
      value: options.contrast,
      onchange: (contrast) => change({ contrast }),
    }),
  ];
}

/** Read the options from the address. @param {import("../core/url.js").Url} url */
function readOptions(url) {
  const at = url.get("at");
  return {
    linked: url.get("link") === "1",
    step: at === null ? null : Number(at),
    brightness: Number(url.get("b", "1")),
    contrast: Number(url.get("c", "1")),
    actual: url.get("size") === "1",
  };
}

/** Write the options to the address. @param {import("../core/url.js").Url} url @param {Options} options */
function writeOptions(url, { linked, step, brightness, contrast, actual }) {
  url.set({
    link: linked ? "1" : null,
    at: linked ? step : null,
    b: brightness === 1 ? null : brightness,
    c: contrast === 1 ? null : contrast,
    size: actual ? "1" : null,
  });
}

/**
 * Return the runs with a column: those with an image, in the order of the list.
 * @param {string[]} shown ids of the runs
 * @param {import("../core/tags.js").Tag[]} tags
 */
export function columnsOf(shown, tags) {
  const holders = new Set(tags.flatMap(({ runs }) => runs));
  return shown.filter((run) => holders.has(run));
}

/**
 * Create the grid: a row for each tag and a column for each run, or a simple flow for one run.
 * @param {App} app
 * @param {HTMLElement[]} cells
 * @param {number} columns
 */
function imageGrid(app, cells, columns) {
  if (columns < 2) return h("div", { class: "cards" }, cells);
  const grid = h("div", { class: "cards by-run", style: { "--columns": columns } }, cells);
  return h(
    "div",
    { class: "image-grid", tabindex: "0", role: "region", "aria-label": app.t("nav.image") },
    grid,
  );
}
