// Download menu of a drawing: SVG, PNG, JSON, Plotly figure.

import { menu } from "../../components/dialog.js";
import { h } from "../../core/dom.js";
import { asPng, asSvg, save } from "./save.js";

/** @typedef {import("../../core/charts.js").Figure} Figure */

/**
 * @typedef {Object} Drawing
 * @property {string} [title] of one of several drawings
 * @property {string} name of the files, without ending
 * @property {import("../../components/graph/canvas.js").Canvas} canvas
 * @property {() => Promise<Figure>} [figure] asks for the Plotly figure
 */

/**
 * Open the menu that downloads a drawing: SVG, PNG, JSON, Plotly figure.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} anchor
 * @param {Drawing[]} drawings
 */
export function downloads(app, anchor, drawings) {
  const { t } = app;
  const item = (/** @type {Drawing} */ drawing, /** @type {string} */ kind) =>
    h(
      "button",
      { type: "button", class: "quiet", onclick: () => (box.close(), take(drawing, kind)) },
      t(`graph.save.${kind}`),
    );
  const kinds = (/** @type {Drawing} */ drawing) => [
    "svg",
    "png",
    "json",
    ...(drawing.figure ? ["plotly"] : []),
  ];
  const group = (/** @type {Drawing} */ drawing) =>
    h(
      "div",
      { class: "stack", role: "group", "aria-label": drawing.title },
      drawing.title && h("h3", null, drawing.title),
      kinds(drawing).map((kind) => item(drawing, kind)),
    );
  const box = menu(anchor, h("div", { class: "stack" }, drawings.map(group)), t("common.download"));
}

/** Save a drawing in one format. @param {Drawing} drawing @param {string} kind */
async function take({ name, canvas, figure }, kind) {
  const { picture } = canvas;
  if (!picture) return;
  const svg = () => asSvg(canvas.drawing(), picture);
  if (kind === "svg") save(`${name}.svg`, new Blob([svg()], { type: "image/svg+xml" }));
  else if (kind === "png") save(`${name}.png`, await asPng(svg(), picture));
  else if (kind === "json") save(`${name}.json`, json(picture));
  else save(`${name}.plotly.json`, json(await figure?.()));
}

/** Return a value as a JSON file. @param {unknown} value */
function json(value) {
  return new Blob([JSON.stringify(value)], { type: "application/json" });
}
