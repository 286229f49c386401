// Images page: every recorded step of every tag. With linked steps all cards show the same one.

import { button } from "../components/button.js";
import { check, searchBox, slider } from "../components/field.js";
import { emptyState } from "../components/nothing.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { nameOf, tagsOfEntries } from "../core/tags.js";
import { ImageCard } from "./image/card.js";
import { compareDialog } from "./image/compare.js";

const CODE = 'record.add_value("image", "input", images)  # NCHW';

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {ReturnType<typeof readOptions>} Options */

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Images(root, app);
  await view.follow([]);
  return {
    update(change) {
      const changed = grownRuns(app, change, "image");
      if (changed.length) view.follow(changed, leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Grid of image cards with shared options. */
class Images {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.state = readOptions(app.url);
    /** @type {ImageCard[]} */
    this.cards = [];
    /** @type {import("../core/tags.js").Tag[] | null} those of the selected runs */
    this.tags = null;
    /** Runs with new pictures since the tags were read. @type {Set<string>} */
    this.grown = new Set();
    this.requests = latest(root);
    this.head = h("div", null);
    this.body = h("div", null);
    replace(root, this.head, this.body);
    this.drawHead();
    this.offs = [
      app.selection.on(() => this.follow([], leaveAsIs)),
      app.theme.on(() => this.cards.filter((card) => card.steps.length).forEach((card) => card.note())),
      app.url.on(() => this.reread()),
    ];
  }

  /** Return the options of all cards. */
  options() {
    return this.state;
  }

  /** Show what the address names after it changed. */
  reread() {
    Object.assign(this.state, readOptions(this.app.url));
    this.drawHead();
    if (this.tags) this.build();
  }

  /** Change options and apply them to the cards. @param {Partial<Options>} changes */
  change(changes) {
    Object.assign(this.state, changes);
    writeOptions(this.app.url, this.state);
    if ("filter" in changes) this.build();
    else this.cards.forEach((card) => card.style());
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
    const reset = () => {
      this.change({ brightness: 1, contrast: 1 });
      this.drawHead();
    };
    replace(
      this.head,
      toolbar(this.app, this.state, (changes) => this.change(changes), reset),
    );
  }

  /** Remove the filter. */
  clear() {
    this.change({ filter: "" });
    this.drawHead();
  }

  /** Create the cards. */
  build() {
    const { app, state } = this;
    this.cards.forEach((card) => card.end());
    const filter = state.filter.toLowerCase();
    const passing = (this.tags ?? []).filter(({ tag }) => tag.toLowerCase().includes(filter));
    const columns = columnsOf(
      app.selection.runs().map((run) => run.id),
      passing,
    );
    /** @type {ImageCard[]} */
    this.cards = [];
    const cells = passing.flatMap(({ tag, runs }) =>
      columns.map((run) => {
        if (!runs.includes(run)) {
          return h("div", { class: "image-missing muted small" }, app.t("image.not_here"));
        }
        const card = new ImageCard(app, { tag, run }, this);
        this.cards.push(card);
        return card.element;
      }),
    );
    replace(
      this.body,
      cells.length
        ? imageGrid(app, cells, columns.length)
        : emptyState(app, { kind: "image", filter: state.filter, clear: () => this.clear(), code: CODE }),
    );
    this.cards.forEach((card) => card.load());
  }

  /**
   * Refresh after new steps or tags, or when other runs were chosen.
   * @param {string[]} changed runs
   * @param {(error: Failure) => unknown} [failed]
   */
  follow(changed, failed) {
    changed.forEach((run) => this.grown.add(run));
    return this.requests.ask(
      (signal) => tagsOfEntries(this.app, "image", signal),
      (tags) => {
        const unchanged = this.tags !== null && nameOf(tags) === nameOf(this.tags);
        this.tags = tags;
        if (!unchanged) this.build();
        else this.cards.filter((card) => this.grown.has(card.run)).forEach((card) => card.load());
        this.grown.clear();
      },
      failed,
    );
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.offs.forEach((off) => off());
    this.cards.forEach((card) => card.end());
  }
}

/**
 * Create the toolbar.
 * @param {App} app
 * @param {Options} options
 * @param {(some: Partial<Options>) => void} change
 * @param {() => void} reset
 */
function toolbar({ t }, options, change, reset) {
  const range = { min: 0.1, max: 3, step: 0.05 };
  const linked = t("image.linked");
  const actual = t("image.actual");
  return h(
    "div",
    { class: "toolbar" },
    searchBox({
      label: t("image.filter"),
      value: options.filter,
      onchange: (filter) => change({ filter }),
    }),
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
    button(t("image.reset"), reset),
  );
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
    filter: url.get("q", ""),
  };
}

/** Write the options to the address. @param {import("../core/url.js").Url} url @param {Options} options */
function writeOptions(url, { linked, step, brightness, contrast, actual, filter }) {
  url.set({
    link: linked ? "1" : null,
    at: linked ? step : null,
    b: brightness === 1 ? null : brightness,
    c: contrast === 1 ? null : contrast,
    size: actual ? "1" : null,
    q: filter,
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
