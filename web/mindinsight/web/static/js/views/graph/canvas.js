// The drawing on the page: what is selected, what is lit, what a click or a key does.

import { h, replace, svg } from "../../core/dom.js";
import { createCamera } from "./camera.js";
import { createMinimap } from "./minimap.js";
import { shapes, spoken } from "./shapes.js";

/** @typedef {import("./shapes.js").Picture} Picture */
/** @typedef {import("./shapes.js").Box} Box */

const FAR = 0.42; // scale below which small text is left out
const ASKANCE = 1e6; // what lies far to the side is taken when there is nothing else
const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/**
 * @param {import("../../core/types.js").App} app
 * @param {{select: (id: number | null, reveal?: boolean) => void, outer: (node: number) => void, toggle: (id: number) => void, key: (key: string) => boolean}} does
 */
export function createCanvas(app, does) {
  /** @type {Picture | null} */
  let picture = null;
  /** @type {import("./shapes.js").Shapes | null} */
  let drawn = null;
  /** @type {number | null} */
  let selected = null;
  /** @type {Set<number> | null} */
  let lit = null;

  const layer = svg("g", null);
  const drawing = svg("svg", { class: "graph-drawing", "aria-hidden": "true" }, layer);
  const said = h("p", { class: "unseen", "aria-live": "polite" });
  const stage = h("div", { class: "graph-stage", tabindex: "0", role: "application", "aria-label": app.t("graph.canvas"), "aria-describedby": "graph-keys" }, drawing);
  const help = h("p", { id: "graph-keys", class: "unseen" }, app.t("graph.keys"));
  const minimap = createMinimap((x, y) => {
    const { k } = camera.place();
    camera.set({ x: stage.clientWidth / 2 - x * k, y: stage.clientHeight / 2 - y * k });
  });
  const element = h("div", { class: "graph-canvas" }, stage, help, said, minimap.element);

  const camera = createCamera(stage, ({ x, y, k }) => {
    layer.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(4)})`);
    drawing.classList.toggle("far", k < FAR);
    minimap.view(camera.sight());
  });

  /** @param {Event} event */
  const boxAt = (event) => {
    const found = /** @type {Element} */ (event.target).closest("[data-id]");
    return found ? Number(found.getAttribute("data-id")) : null;
  };

  stage.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    if (camera.dragged()) return;
    const target = /** @type {Element} */ (event.target);
    const outer = target.closest("[data-outer]");
    const id = boxAt(event);
    if (outer) does.outer(Number(outer.getAttribute("data-outer")));
    else if (id !== null && target.closest(".mark")) does.toggle(id);
    else does.select(id);
  });
  stage.addEventListener("dblclick", (/** @type {MouseEvent} */ event) => {
    const id = boxAt(event);
    if (id !== null && !(/** @type {Element} */ (event.target).closest(".mark"))) does.toggle(id);
  });

  stage.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (pressed(event.key) || does.key(event.key)) event.preventDefault();
  });

  /** @param {string} key */
  const pressed = (key) => {
    const arrow = ARROWS[/** @type {keyof ARROWS} */ (key)];
    if (arrow) does.select(neighbour(picture?.boxes ?? [], selected, arrow) ?? selected, true);
    else if ((key === "Enter" || key === " ") && selected !== null) does.toggle(selected);
    else if (key === "Escape") does.select(null);
    else if (key === "+" || key === "=") camera.zoom(1.25);
    else if (key === "-") camera.zoom(0.8);
    else if (key === "0") fit();
    else return false;
    return true;
  };

  const fit = () => picture && camera.fit({ x: 0, y: 0, w: picture.width, h: picture.height });

  const paint = () => {
    drawn?.boxes.forEach((box, id) => {
      box.classList.toggle("selected", id === selected);
      box.classList.toggle("dim", Boolean(lit) && !lit?.has(id));
      box.classList.toggle("lit", Boolean(lit?.has(id)));
    });
    drawn?.lines.forEach(({ element: path, line }) => {
      const own = line.source === selected || line.target === selected;
      const on = lit ? lit.has(line.source) && lit.has(line.target) : own;
      path.classList.toggle("on", on);
      path.classList.toggle("dim", Boolean(lit) && !on);
      if (path.hasAttribute("marker-end")) path.setAttribute("marker-end", on ? "url(#graph-arrow-on)" : "url(#graph-arrow)");
    });
  };

  return {
    element,
    stage,
    fit,
    zoom: camera.zoom,
    drawing: () => drawing,
    boxes: () => picture?.boxes ?? [],

    /** Draw a picture. With `keep` the box of that place stays where it is on the screen. @param {Picture} next @param {{keep?: number}} [options] */
    show(next, { keep } = {}) {
      const before = picture?.boxes.find((box) => box.id === keep);
      const after = next.boxes.find((box) => box.id === keep);
      picture = next;
      drawn = shapes(next, app.t);
      replace(layer, drawn.layers);
      minimap.show(next);
      lit = null;
      paint();
      if (before && after) {
        const { x, y, k } = camera.place();
        camera.set({ x: x + (before.x + before.w / 2 - after.x - after.w / 2) * k, y: y + (before.y - after.y) * k });
        camera.keepIn(next.width, next.height);
      } else if (keep === undefined) camera.begin({ x: 0, y: 0, w: next.width, h: next.height });
    },

    /** @param {number | null} id @param {boolean} [reveal] */
    select(id, reveal = false) {
      selected = id;
      const box = picture?.boxes.find((one) => one.id === id);
      said.textContent = box ? spoken(box, app.t) : "";
      if (box && reveal) {
        if (camera.place().k < FAR) camera.set({ k: 0.8 });
        camera.reveal(box);
      }
      paint();
    },

    /** Light some boxes and what runs between them; null lights all again. @param {Set<number> | null} ids */
    light(ids) {
      lit = ids;
      paint();
    },
  };
}

/** The box nearest in a direction, as an arrow key means it. @param {Box[]} boxes @param {number | null} from @param {number[]} direction */
export function neighbour(boxes, from, [dx, dy]) {
  const here = boxes.find((box) => box.id === from);
  if (!here) return boxes.find((box) => !box.open)?.id;
  let best;
  let least = Infinity;
  for (const box of boxes) {
    if (box.id === from || (box.open && inside(here, box))) continue;
    const x = box.x + box.w / 2 - here.x - here.w / 2;
    const y = box.y + (box.open ? 13 : box.h / 2) - here.y - (here.open ? 13 : here.h / 2);
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    const cost = along + 2 * aside + (aside > 2 * along ? ASKANCE : 0);
    if (along > 1 && cost < least) [best, least] = [box.id, cost];
  }
  return best;
}

/** @param {Box} inner @param {Box} outer */
function inside(inner, outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.w <= outer.x + outer.w && inner.y + inner.h <= outer.y + outer.h;
}
