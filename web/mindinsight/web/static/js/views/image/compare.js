// Two pictures against each other: side by side, blinking, or the difference of their pixels.

import { segments } from "../../components/button.js";
import { dialog } from "../../components/dialog.js";
import { select, slider } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{tag: string, run: string, row: number, step: number}} Choice */

const BLINK_MS = 500;

/** @param {App} app @param {Choice} first @param {{tag: string, runs: string[]}[]} tags */
export async function compareDialog(app, first, tags) {
  const right = { ...first };
  let mode = "side";
  let timer = 0;
  const stage = h("div", { class: "image-compare" });
  const steps = slider({ label: app.t("image.step"), values: [first.step], value: first.step, onchange: (step) => pick(step) });
  const runs = tags.find((one) => one.tag === first.tag)?.runs ?? [first.run];
  const run = select({
    label: app.t("image.other_run"),
    options: runs.map((id) => ({ value: id, label: app.selection.run(id)?.name ?? id })),
    value: first.run,
    onchange: (value) => {
      right.run = value;
      readSteps();
    },
  });
  const modes = ["side", "blink", "difference"].map((value) => ({ value, label: app.t(`image.compare.${value}`) }));
  const how = segments({ label: app.t("image.compare"), options: modes, value: mode, onchange: (value) => ((mode = value), draw()) });
  /** @type {Float64Array} */
  let known = new Float64Array(0);

  /** @param {number} step */
  const pick = (step) => {
    right.row = Math.max(0, known.indexOf(step));
    right.step = step;
    draw();
  };

  const readSteps = async () => {
    const answer = await app.api.columns("v2/image/steps", { run: right.run, tag: right.tag });
    known = answer.step;
    steps.setValues(known);
    const before = Math.max(0, Math.min(first.run === right.run ? first.row - 1 : first.row, known.length - 1));
    steps.set(known[before]);
    pick(known[before]);
  };

  const draw = async () => {
    clearInterval(timer);
    const pictures = await Promise.all([first, right].map((one) => loadPicture(app, one)));
    const label = (/** @type {Choice} */ one) => app.t("image.compare.label", { run: app.selection.run(one.run)?.name ?? one.run, step: one.step });
    if (mode === "difference") {
      const { canvas, most, same } = difference(pictures[0], pictures[1]);
      replace(stage, h("figure", null, canvas, h("figcaption", null, same ? app.t("image.compare.same") : app.t("image.compare.most", { most }))));
      return;
    }
    const figures = pictures.map((picture, i) => h("figure", null, picture, h("figcaption", null, label(i ? right : first))));
    replace(stage, figures);
    if (mode === "blink") {
      let turn = 0;
      const blink = () => figures.forEach((figure, i) => (figure.hidden = i !== turn % 2));
      blink();
      timer = window.setInterval(() => (turn++, blink()), BLINK_MS);
    }
  };

  const body = h("div", { class: "stack" }, h("div", { class: "toolbar" }, how, run, steps), stage);
  dialog({ title: first.tag, body, close: app.t("common.close"), wide: true, onclose: () => clearInterval(timer) });
  await readSteps();
}

/** @param {App} app @param {Choice} one @returns {Promise<HTMLImageElement>} */
async function loadPicture(app, one) {
  const picture = h("img", { class: "picture", src: app.api.build("v2/image/picture", { run: one.run, tag: one.tag, row: one.row }), alt: `${one.tag} ${one.step}` });
  await picture.decode().catch(() => {});
  return picture;
}

/** Absolute differences of the pixels, stretched so that the largest is white. @param {HTMLImageElement} a @param {HTMLImageElement} b */
function difference(a, b) {
  const width = Math.max(a.naturalWidth, b.naturalWidth, 1);
  const height = Math.max(a.naturalHeight, b.naturalHeight, 1);
  const [left, right] = [a, b].map((picture) => pixels(picture, width, height));
  let most = 0;
  for (let i = 0; i < left.data.length; i++) if (i % 4 !== 3) most = Math.max(most, Math.abs(left.data[i] - right.data[i]));
  const out = new ImageData(width, height);
  for (let i = 0; i < out.data.length; i++) out.data[i] = i % 4 === 3 ? 255 : (Math.abs(left.data[i] - right.data[i]) / (most || 1)) * 255;
  const canvas = h("canvas", { class: "picture", width, height });
  canvas.getContext("2d").putImageData(out, 0, 0);
  return { canvas, most, same: most === 0 && a.naturalWidth === b.naturalWidth && a.naturalHeight === b.naturalHeight };
}

/** @param {HTMLImageElement} picture @param {number} width @param {number} height */
function pixels(picture, width, height) {
  const canvas = h("canvas", { width, height });
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  return context.getImageData(0, 0, width, height);
}
