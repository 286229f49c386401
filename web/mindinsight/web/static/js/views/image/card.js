// Image card: one tag of one run, with steps, zoom and the value under the pointer.

import { card } from "../../components/card.js";
import { slider } from "../../components/field.js";
import { icon } from "../../components/icons.js";
import { runName } from "../../components/run_name.js";
import { pinButton } from "../../components/pin_button.js";
import { lookAlikeMark } from "../../components/look_alike.js";
import { h, replace, throttle } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/lazy_work.js";
import { player } from "./player.js";
import { zoomable } from "./zoom.js";

/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Options
 * @property {boolean} linked
 * @property {number | null} step
 * @property {number} brightness
 * @property {number} contrast
 * @property {boolean} actual
 */

/**
 * @typedef {Object} Page
 * @property {() => Options} options
 * @property {(step: number) => void} onstep
 * @property {(what: {tag: string, run: string, row: number, step: number}) => void} compare
 */

/** Card that shows the image of one step. */
export class ImageCard {
  /** @param {App} app @param {{tag: string, run: string}} options @param {Page} page */
  constructor(app, { tag, run }, page) {
    this.app = app;
    this.tag = tag;
    this.run = run;
    this.page = page;
    /** @type {Float64Array} */
    this.steps = new Float64Array(0);
    this.row = -1;
    /** Whether a person chose the step; the newest is followed otherwise. */
    this.pinned = false;
    this.picture = h("img", { class: "picture", alt: "", draggable: "false", onload: () => this.note() });
    this.pixel = h("span", { class: "number" });
    this.stage = this.makeStage();
    zoomable(this.stage, this.picture);
    this.foot = h("div", { class: "row small wrap" });
    this.move = slider({
      label: app.t("image.step"),
      values: [0],
      value: 0,
      hideLabel: true,
      delay: 60,
      onchange: (step) => this.pick(step),
    });
    this.compare = h(
      "button",
      {
        type: "button",
        class: "link",
        onclick: () => this.row >= 0 && page.compare({ tag, run, row: this.row, step: this.steps[this.row] }),
      },
      app.t("image.compare"),
    );
    this.player = player(app, {
      next: () => this.go(1),
      rewind: () => this.steps.length > 0 && this.pick(this.steps[0]),
      ready: () => this.picture.complete,
    });
    this.save = h(
      "a",
      { class: "button icon quiet", "aria-label": app.t("image.download"), title: app.t("image.download") },
      icon("download"),
    );
    this.save.hidden = true; // until there is a picture: a link that leads nowhere has no role
    const steps = h("div", { class: "row" }, this.player.element, this.move);
    const body = h("div", { class: "stack" }, this.stage, steps);
    this.element = card({
      title: tag,
      mark: lookAlikeMark(app, tag),
      tools: [this.save, pinButton(app, () => this.element)],
      body,
      foot: this.foot,
      full: { label: app.t("common.fullscreen"), close: app.t("common.close") },
    });
    this.requests = latest(this.element);
    this.visibility = whenNear(
      this.element,
      throttle(() => this.read(), 1000),
    );
    this.style();
  }

  /** Create the element around the image. */
  makeStage() {
    const { tag, run, picture } = this;
    return h(
      "div",
      {
        class: "stage",
        tabindex: "0",
        role: "group",
        "aria-label": `${tag}, ${run}`,
        onpointermove: (/** @type {PointerEvent} */ event) =>
          (this.pixel.textContent = valueAt(picture, event)),
        onpointerleave: () => (this.pixel.textContent = ""),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      },
      picture,
    );
  }

  /** Move between steps with the arrow keys. @param {KeyboardEvent} event */
  key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) this.go(by);
  }

  /** Go some steps forward or back. Return false if there is none. @param {number} by */
  go(by) {
    const step = this.steps[this.row + by];
    if (step === undefined) return false;
    this.pick(step);
    return true;
  }

  /** Show a step chosen by the user, on all cards if they are linked. @param {number} step */
  pick(step) {
    this.pinned = step !== this.steps[this.steps.length - 1];
    this.show(step);
    if (this.page.options().linked) this.page.onstep(step);
  }

  /** Show the image of the nearest step. @param {number} step */
  show(step) {
    const { app, steps, picture, run, tag } = this;
    let next = 0;
    for (let i = 0; i < steps.length; i++) {
      if (Math.abs(steps[i] - step) <= Math.abs(steps[next] - step)) next = i;
    }
    if (next === this.row || !steps.length) return;
    this.row = next;
    const address = app.api.build("v2/image/picture", { run, tag, row: next });
    if (picture.getAttribute("src") !== address) picture.src = address;
    picture.alt = app.t("image.alt", { tag, step: steps[next] });
    this.save.href = address;
    this.save.hidden = false;
    this.save.download = `${tag}_${steps[next]}`.replace(/[^\p{L}\p{N}_-]+/gu, "_");
    this.move.set(steps[next]);
    this.note();
  }

  /** Draw the footer: run, position and size. */
  note() {
    const { app, run, picture } = this;
    const size = picture.naturalWidth ? `${picture.naturalWidth} × ${picture.naturalHeight}` : "";
    replace(
      this.foot,
      h("i", { class: "swatch", style: { background: app.selection.colour(run) } }),
      runName(app, run),
      h("span", { class: "grow" }, app.t("image.of", { row: this.row + 1, n: this.steps.length })),
      this.pixel,
      size,
      this.compare,
    );
  }

  /** Request the steps once the card is near the window. */
  load() {
    this.visibility.ask();
  }

  /** Request the steps. */
  read() {
    const { app, run, tag } = this;
    return this.requests.ask(
      (signal) => app.api.columns("v2/image/steps", { run, tag }, { signal }),
      (answer) => this.take(answer.step),
      leaveAsIs,
    );
  }

  /**
   * Show the newest step, or keep the one that the user chose.
   * @param {Float64Array} next all steps there are now
   */
  take(next) {
    const { linked, step } = this.page.options();
    // the chosen step stays, wherever its row is now
    const previous = this.pinned ? this.steps[this.row] : undefined;
    this.steps = next;
    this.row = -1;
    this.move.setValues(next);
    this.show(linked && step !== null ? step : (previous ?? next[next.length - 1]));
    this.note();
  }

  /** Apply brightness, contrast and size. */
  style() {
    const { brightness, contrast, actual } = this.page.options();
    this.picture.style.filter = `brightness(${brightness}) contrast(${contrast})`;
    this.stage.classList.toggle("actual", actual);
  }

  /** Stop playing and drop requests. */
  end() {
    this.player.stop();
    this.requests.end();
    this.visibility.end();
  }
}

/**
 * Return position and colour of the pixel under the pointer: "(x, y) r g b"; "" outside the image.
 * @param {HTMLImageElement} picture
 * @param {PointerEvent} event
 */
export function valueAt(picture, event) {
  const box = picture.getBoundingClientRect();
  const x = Math.floor(((event.clientX - box.left) / box.width) * picture.naturalWidth);
  const y = Math.floor(((event.clientY - box.top) / box.height) * picture.naturalHeight);
  if (!(x >= 0 && y >= 0 && x < picture.naturalWidth && y < picture.naturalHeight)) return "";
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d");
  if (!context) return "";
  context.drawImage(picture, x, y, 1, 1, 0, 0, 1, 1);
  const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
  return `(${x}, ${y}) ${r} ${g} ${b}`;
}
