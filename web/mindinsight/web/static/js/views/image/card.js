// One tag of one run: the picture of a step, in true pixels when wanted, with a value under the pointer.

import { card } from "../../components/card.js";
import { slider } from "../../components/field.js";
import { h, replace, throttle } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/near.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{linked: boolean, step: number | null, brightness: number, contrast: number, actual: boolean}} Options */

/**
 * @param {App} app @param {{tag: string, run: string}} what
 * @param {{options: () => Options, onstep: (step: number) => void, compare: (what: {tag: string, run: string, row: number, step: number}) => void}} page
 */
export function imageCard(app, { tag, run }, page) {
  /** @type {Float64Array} */
  let steps = new Float64Array(0);
  let row = -1;
  let held = false;
  const picture = h("img", { class: "picture", alt: "", draggable: "false" });
  const stage = h("div", { class: "stage", tabindex: "0", role: "group", "aria-label": `${tag}, ${run}` }, picture);
  const foot = h("div", { class: "row small wrap" });
  const pixel = h("span", { class: "number" });
  const move = slider({ label: app.t("image.step"), values: [0], value: 0, hideLabel: true, delay: 60, onchange: (step) => onStep(step) });
  const body = h("div", { class: "stack" }, stage, move);
  const compare = h("button", { type: "button", class: "link", onclick: () => row >= 0 && page.compare({ tag, run, row, step: steps[row] }) }, app.t("image.compare"));
  const element = card({ title: tag, body, foot, full: { label: app.t("common.fullscreen") } });

  /** @param {number} step */
  const onStep = (step) => {
    held = step !== steps[steps.length - 1];
    show(step);
    if (page.options().linked) page.onstep(step);
  };

  /** The picture of the step nearest to the one wanted. @param {number} step */
  const show = (step) => {
    let next = 0;
    for (let i = 0; i < steps.length; i++) if (Math.abs(steps[i] - step) <= Math.abs(steps[next] - step)) next = i;
    if (next === row || !steps.length) return;
    row = next;
    const address = app.api.build("v2/image/picture", { run, tag, row });
    if (picture.getAttribute("src") !== address) picture.src = address;
    picture.alt = app.t("image.alt", { tag, step: steps[row] });
    move.set(steps[row]);
    note();
  };

  const note = () => {
    const size = picture.naturalWidth ? `${picture.naturalWidth} × ${picture.naturalHeight}` : "";
    const name = app.selection.run(run)?.name ?? run;
    replace(foot, h("i", { class: "swatch", style: { background: app.selection.colour(run) } }), h("span", { class: "ellipsis" }, name),
      h("span", { class: "grow" }, app.t("image.of", { row: row + 1, n: steps.length })), pixel, size, compare);
  };

  /** @param {Float64Array} next all steps there are now */
  const take = (next) => {
    const { linked, step } = page.options();
    const kept = held ? steps[row] : undefined; // the step that was chosen, wherever its row is now
    steps = next;
    row = -1;
    move.setValues(steps);
    show(linked && step !== null ? step : (kept ?? steps[steps.length - 1]));
    note();
  };

  const load = throttle(() => {
    asked.ask((signal) => app.api.columns("v2/image/steps", { run, tag }, { signal }), (answer) => take(answer.step), leaveAsIs);
  }, 1000);

  const style = () => {
    const { brightness, contrast, actual } = page.options();
    picture.style.filter = `brightness(${brightness}) contrast(${contrast})`;
    stage.classList.toggle("actual", actual);
  };

  picture.addEventListener("load", note);
  stage.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => (pixel.textContent = valueAt(picture, event)));
  stage.addEventListener("pointerleave", () => (pixel.textContent = ""));
  stage.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by && steps[row + by] !== undefined) onStep(steps[row + by]);
  });
  style();
  const asked = latest(element);
  const seen = whenNear(element, load);
  return { element, run, style, load: seen.ask, show, end: () => (asked.end(), seen.end()) };
}

/** "x, y: r g b" of the pixel under the pointer. @param {HTMLImageElement} picture @param {PointerEvent} event */
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
