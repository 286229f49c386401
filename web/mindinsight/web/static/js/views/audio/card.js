// Audio card: one tag of one run, with player, waveform and facts about the sound.

import { card } from "../../components/card.js";
import { slider } from "../../components/field.js";
import { runName } from "../../components/run_name.js";
import { pinButton } from "../../components/pin_button.js";
import { lookAlikeMark } from "../../components/look_alike.js";
import { h, replace, throttle } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/lazy_work.js";
import { factsOf, problemsOf } from "./facts.js";
import { drawWaveform } from "./waveform.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {{wantedStep: () => number | null, onstep: (step: number) => void}} Page */

const COLUMNS = 600; // stretches of time of a waveform

/** Card that plays the sound of one step. */
export class AudioCard {
  /** @param {App} app @param {{tag: string, run: string}} what @param {Page} page */
  constructor(app, { tag, run }, page) {
    this.app = app;
    this.tag = tag;
    this.run = run;
    this.page = page;
    /** @type {Float64Array} */
    this.steps = new Float64Array(0);
    this.row = -1;
    /** Whether a person chose the step; the newest is followed otherwise. */
    this.held = false;
    /** @type {Facts | null} */
    this.facts = null;
    const name = `${tag}, ${run}`;
    this.player = h("audio", {
      controls: true,
      preload: "none",
      "aria-label": name,
      onplay: () => this.follow(),
      ontimeupdate: () => this.paint(),
      onerror: () => this.failed(),
    });
    this.canvas = h("canvas", { class: "waveform", role: "img", "aria-label": app.t("audio.waveform") });
    this.canvas.addEventListener("click", (/** @type {MouseEvent} */ event) => this.seek(event));
    this.words = h("div", { class: "stack small audio-words" });
    this.foot = h("div", { class: "row small wrap" });
    this.move = slider({
      label: app.t("audio.step"),
      values: [0],
      value: 0,
      hideLabel: true,
      delay: 60,
      onchange: (step) => this.pick(step),
    });
    this.element = card({
      title: tag,
      mark: lookAlikeMark(app, tag),
      tools: [pinButton(app, () => this.element)],
      body: h("div", { class: "stack" }, this.canvas, this.player, this.words, this.move),
      foot: this.foot,
      full: { label: app.t("common.fullscreen"), close: app.t("common.close"), onchange: () => this.paint() },
    });
    this.requests = latest(this.element);
    this.sounds = latest(this.words);
    this.near = whenNear(
      this.element,
      throttle(() => this.read(), 1000),
    );
    this.sized = new ResizeObserver(() => this.paint());
    this.sized.observe(this.canvas);
  }

  /** Show a step chosen by the user. @param {number} step */
  pick(step) {
    this.held = step !== this.steps[this.steps.length - 1];
    this.show(step);
    this.page.onstep(step);
  }

  /** Show the sound of the nearest step. Of several with the same step, the last. @param {number} step */
  show(step) {
    const { steps } = this;
    let next = 0;
    for (let i = 0; i < steps.length; i++) {
      if (Math.abs(steps[i] - step) <= Math.abs(steps[next] - step)) next = i;
    }
    if (next === this.row || !steps.length) return;
    this.row = next;
    this.move.set(steps[next]);
    this.player.pause();
    this.player.src = this.address();
    this.readFacts();
  }

  /** Return the address of the sound. @param {boolean} [download] */
  address(download = false) {
    const { run, tag, row } = this;
    return this.app.api.build("v2/audio/sound", { run, tag, row, download: download || null });
  }

  /** Request the waveform and facts. */
  readFacts() {
    const { app, run, tag, row } = this;
    return this.sounds.ask(
      (signal) => app.api.columns("v2/audio/waveform", { run, tag, row, columns: COLUMNS }, { signal }),
      (facts) => {
        this.facts = facts;
        this.describe();
        this.paint();
      },
    );
  }

  /** Draw label, problems and footer. */
  describe() {
    const { app, run, facts } = this;
    if (!facts) return;
    const shown = facts.shown_channels > 0 && facts.low.length > 0;
    this.canvas.hidden = !shown;
    this.player.hidden = facts.type === null;
    replace(
      this.words,
      facts.label && h("p", { class: "audio-label" }, facts.label),
      problemsOf(app, facts).map((problem) => h("p", { class: "badge bad" }, problem)),
    );
    replace(
      this.foot,
      h("i", { class: "swatch", style: { background: app.selection.colour(run) } }),
      runName(app, run),
      h("span", { class: "grow" }, app.t("audio.of", { row: this.row + 1, n: this.steps.length })),
      h("span", null, factsOf(app, facts)),
      h("a", { href: this.address(true), download: "" }, app.t("common.download")),
    );
  }

  /** Show that the browser cannot play the sound. */
  failed() {
    if (!this.player.hasAttribute("src") || this.words.querySelector(".unplayable")) return;
    this.words.append(h("p", { class: "badge bad unplayable" }, this.app.t("audio.unplayable")));
  }

  /** Draw the waveform with the position. */
  paint() {
    const { app, canvas, facts, player } = this;
    if (!facts || canvas.hidden) return;
    const at = player.duration > 0 ? player.currentTime / player.duration : 0;
    drawWaveform(canvas, facts, {
      wave: app.selection.colour(this.run),
      cursor: app.theme.colour("--text"),
      at,
    });
  }

  /** Redraw the position while playing. */
  follow() {
    const frame = () => {
      this.paint();
      if (!this.player.paused && this.element.isConnected) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Set the position to where the user clicked. @param {MouseEvent} event */
  seek(event) {
    const { player, facts } = this;
    const box = this.canvas.getBoundingClientRect();
    const seconds = player.duration > 0 ? player.duration : (facts?.seconds ?? 0);
    if (box.width) player.currentTime = ((event.clientX - box.left) / box.width) * seconds;
    this.paint();
  }

  /** Request the steps once the card is near the window. */
  load() {
    this.near.ask();
  }

  /** Request the steps. */
  read() {
    const { app, run, tag } = this;
    return this.requests.ask(
      (signal) => app.api.columns("v2/audio/steps", { run, tag }, { signal }),
      (answer) => this.take(answer.step),
      leaveAsIs,
    );
  }

  /**
   * Show the newest step, or keep the one that the user chose or that is playing.
   * @param {Float64Array} next all steps there are now
   */
  take(next) {
    const chosen = this.held || !this.player.paused ? this.steps[this.row] : undefined;
    const before = this.row;
    this.steps = next;
    this.move.setValues(next);
    if (chosen === undefined || next[before] !== chosen) this.row = -1;
    this.show(this.page.wantedStep() ?? chosen ?? next[next.length - 1]);
    this.move.set(next[this.row]);
    this.describe();
  }

  /** Stop playing and drop requests. */
  end() {
    this.player.pause();
    this.player.removeAttribute("src");
    this.requests.end();
    this.sounds.end();
    this.near.end();
    this.sized.disconnect();
  }
}
