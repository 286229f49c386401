// Toolbar of one or two drawings.

import { iconButton } from "../../components/button.js";
import { h } from "../../core/dom.js";
import { downloads } from "./downloads.js";
import { guide } from "./legend.js";

/**
 * Create the toolbar: zoom, fit, reset, legend, full screen, download.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} root what fills the screen
 * @param {{drawings: () => import("./downloads.js").Drawing[], reset: () => void}} actions
 */
export function drawingTools(app, root, { drawings, reset }) {
  const { t } = app;
  const onEach =
    (/** @type {(canvas: import("../../components/graph/canvas.js").Canvas) => void} */ action) => () =>
      drawings().forEach(({ canvas }) => action(canvas));
  const anchored =
    (/** @type {(anchor: HTMLElement) => void} */ action) => (/** @type {MouseEvent} */ event) =>
      action(/** @type {HTMLElement} */ (event.currentTarget));
  return h(
    "div",
    { class: "row graph-tools" },
    iconButton(
      "minus",
      t("graph.zoom.out"),
      onEach((canvas) => canvas.zoom(0.8)),
    ),
    iconButton(
      "plus",
      t("graph.zoom.in"),
      onEach((canvas) => canvas.zoom(1.25)),
    ),
    iconButton(
      "shrink",
      t("graph.fit"),
      onEach((canvas) => canvas.fit()),
    ),
    iconButton("reset", t("graph.reset"), reset),
    iconButton(
      "info",
      t("graph.legend"),
      anchored((anchor) => guide(app, anchor)),
      { "aria-haspopup": "dialog" },
    ),
    iconButton("expand", t("common.fullscreen"), () => root.requestFullscreen?.()),
    iconButton(
      "download",
      t("common.download"),
      anchored((anchor) => downloads(app, anchor, drawings())),
      { "aria-haspopup": "dialog" },
    ),
  );
}
