// Drawing of a large graph: SVG shapes for what is legible, plain rectangles on a canvas for the rest.

import { h } from "../../core/dom.js";
import { covers, detailOf, isLarge } from "./level_of_detail.js";

/** @typedef {import("./shapes.js").Box} Box */
/** @typedef {import("./shapes.js").Picture} Picture */
/** @typedef {import("./camera.js").Transform} Transform */

/** Canvas below the SVG of a large graph. */
export class LargeDrawing {
  /** @param {import("../../core/types.js").App} app */
  constructor(app) {
    this.app = app;
    /** @type {HTMLCanvasElement} */
    this.element = h("canvas", { class: "graph-patches", "aria-hidden": "true", hidden: true });
    /** What is drawn as shapes. @type {ReturnType<typeof detailOf> | null} */
    this.detail = null;
  }

  /** Start with another picture, or with none. @param {Picture | null} picture */
  show(picture) {
    this.detail = null;
    this.element.hidden = !picture || !isLarge(picture);
  }

  /**
   * Create shapes for the visible part if the current ones do not cover it.
   * @param {Picture} picture
   * @param {{sight: import("./camera.js").Rect, at: Transform, width: number, height: number}} view px
   * @param {(part: Picture) => void} build shapes of a part; called where those before do not serve
   */
  refine(picture, { sight, at, width, height }, build) {
    const canvas = this.element;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    if (this.detail && covers(this.detail, sight, at.k)) return;
    this.detail = detailOf(picture, sight, at.k);
    build(this.detail.picture);
  }

  /**
   * Paint the boxes without shapes.
   * @param {Picture} picture
   * @param {{found: Set<number>, lit: Set<number> | null}} marks
   * @param {Transform} at
   */
  paint(picture, { found, lit }, at) {
    const detailed = this.detail?.ids ?? new Set();
    const colour = (/** @type {string} */ name) => this.app.theme.colour(name);
    paintPatches(this.element, picture.boxes, { detailed, hits: found, lit }, at, colour);
  }
}

/**
 * Paint the boxes without shapes as rectangles.
 * @param {HTMLCanvasElement} canvas as large as the stage
 * @param {Box[]} boxes scopes before what is in them
 * @param {{detailed: Set<number>, hits: Set<number>, lit: Set<number> | null}} marks
 * @param {{x: number, y: number, k: number}} transform
 * @param {(name: string) => string} colour of a CSS variable
 */
function paintPatches(canvas, boxes, { detailed, hits, lit }, { x, y, k }, colour) {
  const context = canvas.getContext("2d");
  if (!context) return;
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  for (const [kind, fill] of fills(colour)) {
    context.fillStyle = fill;
    for (const box of boxes) {
      if (detailed.has(box.id) || kindOf(box, hits) !== kind) continue;
      const [left, top, wide, high] = [box.x * k + x, box.y * k + y, box.w * k, box.h * k];
      if (left > width || top > height || left + wide < 0 || top + high < 0 || wide < 0.05) continue;
      context.globalAlpha = lit && !lit.has(box.id) ? 0.25 : 1;
      context.fillRect(left, top, Math.max(1, wide), Math.max(1, high));
    }
  }
  context.globalAlpha = 1;
}

/**
 * Return the kinds of boxes in painting order with their colours.
 * @param {(name: string) => string} colour
 */
function fills(colour) {
  return /** @type {[string, string][]} */ ([
    ["frame", colour("--graph-scope")],
    ["scope", colour("--graph-repeat")],
    ["operator", colour("--graph-operator-line")],
    ["lost", colour("--bad")],
    ["hit", colour("--accent")],
  ]);
}

/** Return the painting kind of a box. @param {Box} box @param {Set<number>} hits */
function kindOf(box, hits) {
  if (hits.has(box.id)) return "hit";
  if (box.hatched || box.badge?.kind.includes("ill")) return "lost";
  if (box.open) return "frame";
  return box.count ? "scope" : "operator";
}
