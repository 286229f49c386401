// Loss landscapes: beside each other or over each other, with the path of training played on them.

import { iconButton } from "../components/button.js";
import { card } from "../components/card.js";
import { empty } from "../components/empty.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { keepFocus } from "../core/focus.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { whenNear } from "../core/lazy_work.js";
import { saveButton } from "../core/share.js";
import { toolbar } from "./landscape/controls.js";
import { lossCurve, readLosses } from "./landscape/curve.js";
import { landscapeFigure, name } from "./landscape/figures.js";
import { intervalOf } from "./landscape/intervals.js";
import { readState, writeState } from "./landscape/state.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./landscape/figures.js").Landscape} Landscape */
/** @typedef {import("./landscape/state.js").State} State */

const PLAY_MS = 450;

/** @param {HTMLElement} root @param {App} app @returns {Promise<import("../core/types.js").View>} */
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

export class Landscapes {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.state = readState(app.url);
    /** @type {Landscape[]} */
    this.all = [];
    /** @type {import("./landscape/curve.js").Loss[]} */
    this.losses = [];
    /** @type {{draw: () => void, end: () => void, element: HTMLElement}[]} */
    this.cards = [];
    /** @type {ReturnType<typeof toolbar> | null} */
    this.controls = null;
    this.playing = false;
    this.head = h("div", null);
    this.curve = h("div", null);
    this.body = h("div", null);
    replace(root, this.head, this.curve, this.body);
    this.requests = latest(root);
    this.lossRequests = latest(root);
    this.playback = latest(root);
    this.shownState = this.shown();
    this.offs = [
      app.selection.on(() => this.chosen()),
      app.theme.on(() => this.draw()),
      app.url.on(() => this.reread()),
    ];
  }

  /** The address is another one: somebody went back or forward. */
  reread() {
    this.stop();
    this.state = readState(this.app.url);
    this.build();
  }

  /** The runs with landscapes that are shown. */
  shown() {
    return this.app.selection
      .runs()
      .filter((run) => run.kinds.landscape)
      .map((run) => run.id)
      .join();
  }

  chosen() {
    const state = this.shown();
    if (this.shownState === state) return;
    this.shownState = state;
    this.load(leaveAsIs);
  }

  /** @param {(error: any) => any} [failed] */
  load(failed) {
    const { api, selection } = this.app;
    const run = selection
      .runs()
      .filter((candidate) => candidate.kinds.landscape)
      .map((candidate) => candidate.id);
    return this.requests.ask(
      async (signal) =>
        run.length ? (await api.columns("v2/landscape/all", { run }, { signal })).landscapes : [],
      (landscapes) => {
        this.all = landscapes;
        this.build();
        this.readLosses();
      },
      failed,
    );
  }

  /** The curves that the intervals are stretches of; a page without them is whole. */
  readLosses() {
    const runs = [...new Set(this.all.map((landscape) => landscape.run))];
    return this.lossRequests.ask(
      (signal) => readLosses(this.app, runs, signal),
      (losses) => {
        this.losses = losses;
        this.drawCurve();
      },
      leaveAsIs,
    );
  }

  intervals() {
    return [...new Set(this.all.map(intervalOf))];
  }

  /** The landscapes of the chosen interval. */
  now() {
    return this.all.filter((landscape) => intervalOf(landscape) === this.state.interval);
  }

  /** Points of the longest path. */
  longest() {
    return Math.max(0, ...this.now().map((landscape) => landscape.path?.x.length ?? 0));
  }

  build() {
    const { app, state } = this;
    const intervals = this.intervals();
    if (!intervals.includes(state.interval)) state.interval = intervals[0] ?? "";
    this.keep();
    this.cards.forEach((shownCard) => shownCard.end());
    const current = this.now();
    const groups = state.over ? [current] : current.map((landscape) => [landscape]);
    this.cards = current.length ? groups.map((landscapes) => this.card(landscapes)) : [];
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
      this.cards.length
        ? h(
            "div",
            { class: "cards wide" },
            this.cards.map((shownCard) => shownCard.element),
          )
        : none(),
    );
  }

  /** Write the state into the address; the step of a path that plays is none of it. */
  keep() {
    const { playing, state } = this;
    writeState(this.app.url, playing ? { ...state, shown: Infinity } : state, this.intervals()[0]);
  }

  drawHead() {
    this.controls = this.all.length ? toolbar(this) : null;
    replace(this.head, this.controls?.element);
  }

  drawCurve() {
    const panel = lossCurve(this.app, this.losses, this.all, this.state.interval, (interval) =>
      this.change({ interval }),
    );
    keepFocus(this.curve, () => replace(this.curve, panel));
  }

  draw() {
    this.cards.forEach((shownCard) => shownCard.draw());
  }

  /** @param {Partial<State>} changes */
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

  /** Point after point, each for a while after it was drawn: a slow machine shows all of them, too. */
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

  /** @param {AbortSignal} signal aborted when the path is played anew or not any more */
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

  /** The path stands still, whole or up to a point. @param {number} [point] */
  stop(point = Infinity) {
    this.playback.end();
    this.playing = false;
    this.state.shown = point;
    this.controls?.tell();
  }

  /** @param {Landscape[]} landscapes */
  card(landscapes) {
    const { app } = this;
    const { t } = app;
    const label = landscapes.map((landscape) => `${name(app, landscape)} ${landscape.tag}`).join(", ");
    const plot = h("div", { class: "chart landscape-chart", role: "img", "aria-label": label });
    const facts = landscapes.map((landscape) =>
      h(
        "span",
        { class: "row" },
        h("i", { class: "swatch", style: { background: app.selection.colour(landscape.run) } }),
        name(app, landscape),
        this.ending(landscape),
      ),
    );
    const title = landscapes.length > 1 ? t("landscape.together") : landscapes[0].tag;
    const picture = iconButton("download", t("landscape.png"), () =>
      app.charts.download(plot, {
        format: "png",
        filename: label.replace(/[^\w.-]+/g, "_"),
        width: 1200,
        height: 900,
      }),
    );
    const tools = [picture, saveButton(app, () => element, title)];
    const element = card({
      title,
      tools,
      body: plot,
      foot: h("div", { class: "row small wrap" }, facts),
      full: { label: t("common.fullscreen"), close: t("common.close") },
    });
    const draw = () => app.charts.draw(plot, () => landscapeFigure(app, landscapes, this.state));
    const visibility = whenNear(element, draw);
    visibility.ask();
    return { element, draw, end: () => (visibility.end(), app.charts.remove(plot)) };
  }

  /** @param {Landscape} landscape */
  ending({ convergence, decomposition }) {
    const { t, format } = this.app;
    const loss = convergence && format.number(convergence.z[0], 5);
    const text = loss ? `${t("landscape.end")}: ${loss} · ${decomposition}` : decomposition;
    return h("span", { class: "muted" }, text);
  }

  end() {
    this.stop();
    this.requests.end();
    this.lossRequests.end();
    this.offs.forEach((off) => off());
    this.cards.forEach((shownCard) => shownCard.end());
  }
}
