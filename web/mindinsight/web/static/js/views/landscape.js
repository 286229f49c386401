// Loss landscapes page: beside or over each other, with an animation of the training path.

import { empty } from "../components/empty.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { keepFocus } from "../core/focus.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { toolbar } from "./landscape/controls.js";
import { lossCurve, readLosses } from "../components/landscape/curve.js";
import { intervalOf } from "../components/landscape/intervals.js";
import { landscapeCard, planesNote } from "./landscape/landscape_card.js";
import { differentPlanes, sharedLevels, sharedRange } from "./landscape/levels.js";
import { readState, writeState } from "./landscape/state.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./landscape/figures.js").Landscape} Landscape */
/** @typedef {import("./landscape/state.js").State} State */

const PLAY_MS = 450;

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Landscapes(root, app);
  await view.load();
  return {
    update(change) {
      if (grownRuns(app, change, "landscape").length) view.load(leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Page of the landscapes of one interval, of one run or several. */
export class Landscapes {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.state = readState(app.url);
    /** @type {Landscape[]} */
    this.all = [];
    /** @type {import("../components/landscape/curve.js").Loss[]} */
    this.losses = [];
    /** @type {{draw: () => void, end: () => void, element: HTMLElement}[]} */
    this.cards = [];
    /** @type {ReturnType<typeof toolbar> | null} */
    this.controls = null;
    this.playing = false;
    /** Of all surfaces, once somebody turned one. @type {unknown} */
    this.camera = null;
    this.turns = 0;
    this.head = h("div", null);
    this.curve = h("div", null);
    this.body = h("div", null);
    replace(root, this.head, this.curve, this.body);
    this.requests = latest(root);
    this.playback = latest(root);
    this.shownState = this.shown();
    this.offs = [
      app.selection.on(() => this.chosen()),
      app.theme.on(() => this.draw()),
      app.url.on(() => this.reread()),
    ];
  }

  /** Show what the address names after it changed. */
  reread() {
    this.stop();
    this.state = readState(this.app.url);
    this.build();
  }

  /** Return the shown runs as text, for comparison. */
  shown() {
    return this.app.selection
      .runs()
      .filter((run) => run.kinds.landscape)
      .map((run) => run.id)
      .join();
  }

  /** Load again if other runs were chosen. */
  chosen() {
    const state = this.shown();
    if (this.shownState === state) return;
    this.shownState = state;
    this.load(leaveAsIs);
  }

  /** Request landscapes and losses. @param {(error: Failure) => unknown} [failed] */
  load(failed) {
    const { api, selection } = this.app;
    const run = selection
      .runs()
      .filter((candidate) => candidate.kinds.landscape)
      .map((candidate) => candidate.id);
    return this.requests.ask(
      async (signal) => {
        if (!run.length) return { landscapes: [], losses: [] };
        const { landscapes } = await api.columns("v2/landscape/all", { run }, { signal });
        // Both before anything is drawn: the curves stand above the landscapes. Without them a page is whole.
        const losses = await readLosses(this.app, runsOf(landscapes), signal).catch(() => []);
        return { landscapes, losses };
      },
      ({ landscapes, losses }) => {
        this.all = landscapes;
        this.losses = losses;
        this.build();
      },
      failed,
    );
  }

  /** Return the intervals of all landscapes. */
  intervals() {
    return [...new Set(this.all.map(intervalOf))];
  }

  /** Return the landscapes of the chosen interval. */
  now() {
    return this.all.filter((landscape) => intervalOf(landscape) === this.state.interval);
  }

  /** Return the number of points of the longest path. */
  longest() {
    return Math.max(0, ...this.now().map((landscape) => landscape.path?.x.length ?? 0));
  }

  /** Create the cards. */
  build() {
    const { app, state } = this;
    const intervals = this.intervals();
    if (!intervals.includes(state.interval)) state.interval = intervals[0] ?? "";
    this.keep();
    this.cards.forEach((shownCard) => shownCard.end());
    const current = this.now();
    const groups = state.over ? [current] : current.map((landscape) => [landscape]);
    this.cards = current.length ? groups.map((landscapes) => landscapeCard(this, landscapes)) : [];
    this.drawHead();
    this.drawCurve();
    const none = () =>
      empty({
        title: app.t("landscape.none"),
        text: app.t("landscape.none_how"),
        code: "SummaryLandscape(summary_dir).gen_landscapes(loss)",
      });
    replace(
      this.body,
      differentPlanes(current) && planesNote(app),
      this.cards.length
        ? h(
            "div",
            { class: "cards wide" },
            this.cards.map((shownCard) => shownCard.element),
          )
        : none(),
    );
  }

  /** Write the state to the address. The position of a playing animation is left out. */
  keep() {
    const { playing, state } = this;
    writeState(this.app.url, playing ? { ...state, shown: Infinity } : state, this.intervals()[0]);
  }

  /** Draw the toolbar. */
  drawHead() {
    this.controls = this.all.length ? toolbar(this) : null;
    replace(this.head, this.controls?.element);
  }

  /** Draw the loss curve. */
  drawCurve() {
    const panel = lossCurve(this.app, this.losses, this.all, this.state.interval, (interval) =>
      this.change({ interval }),
    );
    keepFocus(this.curve, () => replace(this.curve, panel));
  }

  /** Redraw all cards. */
  draw() {
    this.cards.forEach((shownCard) => shownCard.draw());
  }

  /** Change the state and redraw. @param {Partial<State>} changes */
  change(changes) {
    if ("interval" in changes) this.stop();
    Object.assign(this.state, changes);
    if ("lines" in changes || "colours" in changes) {
      this.keep();
      this.draw();
    } else this.build();
  }

  /** Show the path up to a point. @param {number} point */
  step(point) {
    this.stop(point < this.longest() ? point : Infinity);
    this.keep();
    this.draw();
  }

  /** Play the path from its start. */
  async play() {
    this.stop();
    this.playing = true;
    this.keep();
    this.controls?.tell();
    await this.playback.ask(
      (signal) => this.drawPoints(signal),
      () => this.stop(),
    );
  }

  /**
   * Show one point after another, each for a while after it was drawn.
   * @param {AbortSignal} signal aborted when the path is played anew or not any more
   */
  async drawPoints(signal) {
    for (let point = 1; point <= this.longest(); point++) {
      this.state.shown = point;
      this.controls?.tell();
      this.draw();
      await this.app.charts.drawn();
      await new Promise((resolve) => setTimeout(resolve, PLAY_MS));
      if (signal.aborted) return;
    }
  }

  /** Stop playing and show the path up to a point, by default all of it. @param {number} [point] */
  stop(point = Infinity) {
    this.playback.end();
    this.playing = false;
    this.state.shown = point;
    this.controls?.tell();
  }

  /** Return how landscapes are drawn: options, shared levels, camera. */
  look() {
    const { camera, turns } = this;
    const landscapes = this.now();
    const several = landscapes.length > 1;
    const levels = several ? sharedLevels(landscapes, this.state.lines) : null;
    return { ...this.state, levels, range: several ? sharedRange(landscapes) : null, camera, turns };
  }

  /**
   * Turn all other surfaces like the one the user turned.
   * @param {unknown} camera
   * @param {() => void} draw its own
   */
  turn(camera, draw) {
    this.camera = camera;
    this.turns += 1;
    this.cards.forEach((shownCard) => shownCard.draw !== draw && shownCard.draw());
  }

  /** Leave the page. */
  end() {
    this.stop();
    this.requests.end();
    this.offs.forEach((off) => off());
    this.cards.forEach((shownCard) => shownCard.end());
  }
}

/** Return the runs of landscapes. @param {Landscape[]} landscapes */
function runsOf(landscapes) {
  return [...new Set(landscapes.map((landscape) => landscape.run))];
}
