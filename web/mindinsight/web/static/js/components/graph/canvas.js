// Interactive drawing of a graph: selection, highlighting, mouse and keys.

import { loading } from "../empty.js";
import { h, replace, svg } from "../../core/dom.js";
import { createCamera, LEGIBLE } from "./camera.js";
import { boxAt, canvasKey } from "./canvas_input.js";
import { createHover } from "./hover.js";
import { LargeDrawing } from "./large_drawing.js";
import { isLarge } from "./level_of_detail.js";
import { around, markShapes } from "./marking.js";
import { createMinimap } from "./minimap.js";
import { shapes, spoken } from "./shapes.js";
import { createTitleBar } from "./title_bar.js";

/** @typedef {import("./shapes.js").Picture} Picture */
/** @typedef {import("./shapes.js").Box} Box */

const SMALLER = 0.7; // scale of two drawings side by side, which have half the room
const MARGIN = 40; // px
const FAR = 0.42; // scale below which small text is left out
const NOWHERE = -1; // a place no box has: the drawing stays where it is

/**
 * @typedef {Object} Actions
 * @property {(id: number | null, reveal?: boolean) => void} select
 * @property {(node: number) => void} outer
 * @property {(id: number) => void} toggle
 * @property {(key: string) => boolean} key
 * @property {(line: import("./shapes.js").Line) => void} [flow] a line was clicked
 */

/**
 * Create the drawing of one graph.
 * @param {import("../../core/types.js").App} app
 * @param {Actions} actions
 * @param {"left" | "right"} [side] of two drawings on one page
 */
export function createCanvas(app, actions, side) {
  return new Canvas(app, actions, side);
}

/** Drawing of one graph with camera, minimap and title bar. */
export class Canvas {
  /**
   * @param {import("../../core/types.js").App} app
   * @param {Actions} actions
   * @param {"left" | "right"} [side]
   */
  constructor(app, actions, side) {
    this.app = app;
    this.actions = actions;
    this.side = side;
    /** @type {Picture | null} */
    this.picture = null;
    /** @type {import("./shapes.js").Shapes | null} */
    this.shapes = null;
    /** Boxes in which a search found something. @type {Set<number>} */
    this.found = new Set();
    /** @type {number | null} */
    this.selected = null;
    /** @type {Set<number> | null} */
    this.lit = null;
    /** What a search found: sorted indices. @type {number[]} */
    this.hits = [];
    /** A parameter or constant whose chips are marked. @type {number | null} */
    this.outer = null;
    /** @type {Set<number>} parameters with non-finite values */
    this.broken = new Set();
    /** A line that was clicked. @type {import("./shapes.js").Line | null} */
    this.line = null;
    this.hover = createHover(app.t);
    this.layer = svg("g", null);
    this.sheet = svg("svg", { class: "graph-drawing", "aria-hidden": "true" }, this.layer);
    this.large = new LargeDrawing(app);
    this.announcement = h("p", { class: "unseen", "aria-live": "polite" });
    this.stage = this.makeStage();
    this.minimap = createMinimap((x, y) => this.lookAt(x, y));
    this.titles = createTitleBar(app.t("graph.around"), (id) => actions.select(id, true));
    this.waits = h("div", { class: "graph-waits", hidden: true });
    const help = h(
      "p",
      { id: this.helpId(), class: "unseen" },
      app.t(side ? "graph.keys.compare" : "graph.keys"),
    );
    this.element = h(
      "div",
      { class: "graph-canvas" },
      this.stage,
      help,
      this.announcement,
      this.titles.element,
      this.minimap.element,
      this.waits,
    );
    this.camera = createCamera(this.stage, (view) => this.moved(view), side ? SMALLER : LEGIBLE);
  }

  /** Return the id of the element that describes the keys. */
  helpId() {
    return this.side ? `graph-keys-${this.side}` : "graph-keys";
  }

  /** Create the element that takes pointer and key events. @returns {HTMLElement} */
  makeStage() {
    const { app, large, sheet, side } = this;
    return h(
      "div",
      {
        class: "graph-stage",
        tabindex: "0",
        role: "application",
        "aria-label": app.t(side ? `graph.canvas.${side}` : "graph.canvas"),
        "aria-describedby": this.helpId(),
        onclick: (/** @type {MouseEvent} */ event) => this.clicked(event),
        ondblclick: (/** @type {MouseEvent} */ event) => this.clickedTwice(event),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event),
        onpointermove: (/** @type {PointerEvent} */ event) => this.pointed(event),
        onpointerleave: () => this.hover.leave(),
      },
      large.element,
      sheet,
    );
  }

  /** Apply a new camera position to the drawing. @param {import("./camera.js").Transform} transform */
  moved({ x, y, k }) {
    this.refine({ x, y, k });
    this.layer.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(4)})`);
    this.sheet.classList.toggle("far", k < FAR);
    this.minimap.view(this.camera.sight());
    this.titles.update(this.boxes(), { x, y, k }, this.stage.clientWidth);
  }

  /**
   * Draw in detail what is legible in the visible part of a large graph.
   * @param {import("./camera.js").Transform} at
   */
  refine(at) {
    const { large, picture, stage } = this;
    if (!picture || !isLarge(picture)) return;
    const view = { sight: this.camera.sight(), at, width: stage.clientWidth, height: stage.clientHeight };
    large.refine(picture, view, (part) => {
      this.build(part);
      this.found = markShapes(this.shapes, this.boxes(), this);
    });
    large.paint(picture, this, at);
  }

  /** Centre a point of the drawing. @param {number} x @param {number} y */
  lookAt(x, y) {
    const { k } = this.camera.transform();
    this.camera.set({ x: this.stage.clientWidth / 2 - x * k, y: this.stage.clientHeight / 2 - y * k });
  }

  /**
   * Show the tooltip of the line under the pointer, unless dragging or over a box.
   * @param {PointerEvent} event
   */
  pointed(event) {
    if (event.buttons || /** @type {Element} */ (event.target).closest(".closed")) return this.hover.leave();
    const { left, top } = this.stage.getBoundingClientRect();
    const { x, y, k } = this.camera.transform();
    return this.hover.move((event.clientX - left - x) / k, (event.clientY - top - y) / k, k);
  }

  /** Select the box, parameter or line that was clicked. @param {MouseEvent} event */
  clicked(event) {
    if (this.camera.dragged()) return;
    const target = /** @type {Element} */ (event.target);
    const outer = target.closest("[data-outer]");
    const id = boxAt(event);
    const line = this.hover.line();
    if (outer) this.actions.outer(Number(outer.getAttribute("data-outer")));
    else if (id !== null && target.closest(".mark")) this.actions.toggle(id);
    else if (this.actions.flow && line) this.actions.flow(line);
    else this.actions.select(id);
  }

  /** Open or close the scope that was double-clicked. @param {MouseEvent} event */
  clickedTwice(event) {
    const id = boxAt(event);
    if (id !== null && !(/** @type {Element} */ (event.target).closest(".mark"))) this.actions.toggle(id);
  }

  /** Handle a key. @param {KeyboardEvent} event */
  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (canvasKey(this, event.key) || this.actions.key(event.key)) event.preventDefault();
  }

  /** Show the whole drawing. */
  fit() {
    if (this.picture) this.camera.fit({ x: 0, y: 0, w: this.picture.width, h: this.picture.height });
  }

  /** Zoom by a factor. @param {number} factor */
  zoom(factor) {
    this.camera.zoom(factor);
  }

  /** Return the whole drawing as an SVG element, for a file. */
  drawing() {
    if (!this.picture || !isLarge(this.picture)) return this.sheet;
    return svg("svg", { class: "graph-drawing" }, svg("g", null, shapes(this.picture, this.app.t).layers));
  }

  /** Create the shapes of a picture or of a part of it. @param {Picture} picture */
  build(picture) {
    this.shapes = shapes(picture, this.app.t);
    this.hover.show(picture, this.shapes);
    replace(this.layer, this.shapes.layers, this.hover.element);
  }

  /** Return the boxes of the current picture. @returns {Box[]} */
  boxes() {
    return this.picture?.boxes ?? [];
  }

  /** Show or hide that a picture is being loaded. @param {boolean} on */
  wait(on) {
    replace(this.waits, on && loading(this.app.t("common.loading")));
    this.waits.hidden = !on;
  }

  /**
   * Mark search hits (sorted indices), a parameter or constant, non-finite parameters, or a line.
   * @param {{hits?: number[], outer?: number | null, broken?: Set<number>,
   *   line?: import("./shapes.js").Line | null}} marks
   */
  mark(marks) {
    Object.assign(this, marks);
    this.paint();
  }

  /** Update the marks of selected, highlighted and found boxes. */
  paint() {
    this.found = markShapes(this.shapes, this.boxes(), this);
    this.minimap.mark(this.found);
    const { camera, large, picture } = this;
    if (picture && !large.element.hidden) large.paint(picture, this, camera.transform());
  }

  /**
   * Draw a picture. The box of the node `keep` stays at its place on the screen.
   * @param {Picture} next
   * @param {{keep?: number}} [options]
   */
  show(next, { keep } = {}) {
    const before = this.picture?.boxes.find((box) => box.id === keep);
    const after = next.boxes.find((box) => box.id === keep);
    this.picture = next;
    this.large.show(next);
    if (!isLarge(next)) this.build(next);
    this.minimap.show(next);
    this.lit = null;
    this.paint();
    if (before && after) {
      const { x, y, k } = this.camera.transform();
      this.camera.set({
        x: x + (before.x + before.w / 2 - after.x - after.w / 2) * k,
        y: y + (before.y - after.y) * k,
      });
      this.camera.keepIn(next.width, next.height);
    } else if (keep === undefined) this.camera.begin({ x: 0, y: 0, w: next.width, h: next.height });
  }

  /** Draw the same picture again after its badges or colours have changed. */
  again() {
    const { picture, lit } = this;
    if (!picture) return;
    this.show(picture, { keep: NOWHERE });
    this.light(lit);
  }

  /**
   * Select a box, and move it into view if `reveal`; null clears the selection.
   * @param {number | null} id
   * @param {boolean} [reveal]
   */
  select(id, reveal = false) {
    this.selected = id;
    const box = this.boxes().find((candidate) => candidate.id === id);
    this.announcement.textContent = box ? spoken(box, this.app.t) : "";
    if (box && reveal && this.picture) {
      this.camera.centre(box);
      this.camera.fill(this.picture.width, this.picture.height);
    }
    this.paint();
  }

  /** Move the smallest of some boxes into view, by as little as needed. @param {Box[]} boxes */
  reveal(boxes) {
    const [box] = [...boxes].sort((a, b) => a.w * a.h - b.w * b.h);
    if (box) this.camera.reveal(box);
    return box !== undefined;
  }

  /** Return the number of pixels per unit of the drawing. */
  scale() {
    return this.camera.transform().k;
  }

  /**
   * Centre a box, or a point in it, at a scale.
   * @param {number | null} id
   * @param {number} k scale
   * @param {{x: number, y: number} | null} [point] from the upper left corner of the box
   */
  centre(id, k, point = null) {
    const box = this.boxes().find((candidate) => candidate.id === id);
    if (!box) return;
    this.camera.set({ k });
    if (point) return this.lookAt(box.x + Math.min(point.x, box.w), box.y + Math.min(point.y, box.h));
    const furthest = box.x + (this.stage.clientWidth / 2 - MARGIN) / k; // that keeps the left edge in sight
    this.lookAt(Math.min(box.x + box.w / 2, furthest), box.y + (box.open ? 0 : box.h / 2));
  }

  /** Show some boxes as large as fits. @param {Box[]} boxes */
  gather(boxes) {
    if (boxes.length) this.camera.fit(around(boxes), 1);
  }

  /** Highlight some boxes and the lines between them; null ends it. @param {Set<number> | null} ids */
  light(ids) {
    this.lit = ids;
    this.paint();
  }
}
