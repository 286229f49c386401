// Comparison of two images: side by side, blinking, or the difference of their pixels.

import { segments } from "../../components/button.js";
import { dialog } from "../../components/dialog.js";
import { nearest, select, slider } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { comparePixels } from "./pixels.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{tag: string, run: string, row: number, step: number}} Choice */

const BLINK_MS = 500;
const MODES = ["side", "blink", "difference"];

/**
 * Open the comparison of an image with another step or run.
 * @param {App} app
 * @param {Choice} first
 * @param {{tag: string, runs: string[]}[]} tags
 */
export async function compareDialog(app, first, tags) {
  await new Comparison(app, first, tags.find((tag) => tag.tag === first.tag)?.runs ?? [first.run]).open();
}

/** Dialog with two images. */
class Comparison {
  /** @param {App} app @param {Choice} first @param {string[]} runs that hold the tag */
  constructor(app, first, runs) {
    const { t } = app;
    this.app = app;
    this.first = first;
    this.right = { ...first };
    this.mode = "side";
    this.timer = 0;
    /** Steps of the run on the right. */
    this.knownSteps = new Float64Array(0);
    this.stage = h("div", { class: "image-compare" });
    this.steps = slider({
      label: t("image.step"),
      values: [first.step],
      value: first.step,
      onchange: (step) => this.pick(step),
    });
    /** Another charted run, if one has the tag; else earlier steps of the same. */
    this.other = runs.find((id) => id !== first.run) ?? first.run;
    const names = runs.map((id) => ({ value: id, label: app.selection.run(id)?.name ?? id }));
    const run = select({
      label: t("image.other_run"),
      options: names,
      value: this.other,
      onchange: (id) => this.readSteps(id),
    });
    const modes = MODES.map((value) => ({ value, label: t(`image.compare.${value}`) }));
    const how = segments({
      label: t("image.compare"),
      options: modes,
      value: this.mode,
      onchange: (mode) => ((this.mode = mode), this.draw()),
    });
    this.body = h(
      "div",
      { class: "stack" },
      h("div", { class: "toolbar" }, how, run, this.steps),
      this.stage,
    );
    this.stepRequests = latest(this.body);
    this.pictureRequests = latest(this.body);
  }

  /** Open the dialog. */
  open() {
    dialog({
      title: this.first.tag,
      body: this.body,
      close: this.app.t("common.close"),
      wide: true,
      onclose: () => clearInterval(this.timer),
    });
    return this.readSteps(this.other);
  }

  /**
   * Request the steps of another run and choose the nearest step, or the previous step of the same run.
   * @param {string} run
   */
  readSteps(run) {
    const { app, first, right } = this;
    right.run = run;
    return this.stepRequests.ask(
      (signal) => app.api.columns("v2/image/steps", { run, tag: right.tag }, { signal }),
      (answer) => {
        this.knownSteps = answer.step;
        this.steps.setValues(this.knownSteps);
        const same = first.run === run;
        const row = same ? Math.max(0, first.row - 1) : nearest(this.knownSteps, first.step);
        this.steps.set(this.knownSteps[row]);
        this.pick(this.knownSteps[row]);
      },
      (error) => this.failed(error),
    );
  }

  /** Show a step on the right side. @param {number} step */
  pick(step) {
    this.right.row = Math.max(0, this.knownSteps.indexOf(step));
    this.right.step = step;
    return this.draw();
  }

  /** Load both images and show them. */
  draw() {
    const { app, first, mode } = this;
    const right = { ...this.right };
    clearInterval(this.timer);
    return this.pictureRequests.ask(
      () => Promise.all([first, right].map((choice) => loadPicture(app, choice))),
      (pictures) => {
        if (mode === "difference") this.showDifference(pictures);
        else this.showBoth(pictures, [first, right]);
      },
      (error) => this.failed(error),
    );
  }

  /** Show the difference of the pixels. @param {HTMLImageElement[]} pictures */
  showDifference([left, right]) {
    const { t } = this.app;
    const { canvas, most, verdict } = difference(left, right);
    const sizes = [left, right].map(
      ({ naturalWidth: width, naturalHeight: height }) => `${width} × ${height}`,
    );
    replace(
      this.stage,
      h(
        "figure",
        null,
        canvas,
        h("figcaption", null, t(`image.compare.${verdict}`, { most, left: sizes[0], right: sizes[1] })),
      ),
    );
  }

  /** Show both images, side by side or blinking. @param {HTMLImageElement[]} pictures @param {Choice[]} of */
  showBoth(pictures, of) {
    const { t, selection } = this.app;
    const label = (/** @type {Choice} */ choice) =>
      t("image.compare.label", { run: selection.run(choice.run)?.name ?? choice.run, step: choice.step });
    const figures = pictures.map((picture, i) =>
      h("figure", null, picture, h("figcaption", null, label(of[i]))),
    );
    replace(this.stage, figures);
    if (this.mode !== "blink") return;
    let turn = 0;
    const blink = () => figures.forEach((figure, i) => (figure.hidden = i !== turn % 2));
    blink();
    this.timer = window.setInterval(() => (turn++, blink()), BLINK_MS);
  }

  /** Show an error. @param {Failure} error */
  failed(error) {
    replace(this.stage, h("p", { class: "badge bad" }, this.app.t(error.key ?? "error.http", error.vars)));
  }
}

/** Load an image. @param {App} app @param {Choice} choice @returns {Promise<HTMLImageElement>} */
async function loadPicture(app, choice) {
  const picture = h("img", {
    class: "picture",
    src: app.api.build("v2/image/picture", { run: choice.run, tag: choice.tag, row: choice.row }),
    alt: `${choice.tag} ${choice.step}`,
  });
  await picture.decode().catch(() => {});
  return picture;
}

/**
 * Return the absolute differences of the pixels, scaled so that the largest is white, with the largest
 * difference and whether the images are equal.
 * @param {HTMLImageElement} a
 * @param {HTMLImageElement} b
 */
function difference(a, b) {
  const width = Math.max(a.naturalWidth, b.naturalWidth, 1);
  const height = Math.max(a.naturalHeight, b.naturalHeight, 1);
  const [left, right] = [a, b].map((picture) => pixels(picture, width, height));
  const sizes = [a, b].map((picture) => [picture.naturalWidth, picture.naturalHeight]);
  const { most, verdict } = comparePixels(left.data, right.data, sizes);
  const out = new ImageData(width, height);
  for (let i = 0; i < out.data.length; i++) {
    out.data[i] = i % 4 === 3 ? 255 : (Math.abs(left.data[i] - right.data[i]) / (most || 1)) * 255;
  }
  const canvas = h("canvas", { class: "picture", width, height });
  canvas.getContext("2d")?.putImageData(out, 0, 0);
  return { canvas, most, verdict };
}

/**
 * Return the pixels of an image on a canvas of a given size.
 * @param {HTMLImageElement} picture
 * @param {number} width
 * @param {number} height
 */
function pixels(picture, width, height) {
  const canvas = h("canvas", { width, height });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.drawImage(picture, 0, 0);
  return context.getImageData(0, 0, width, height);
}
