// Self-contained copy of a part of the page: charts as figures, images as data URLs, no controls.

import { h, replace } from "./dom.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./charts.js").Figure} Figure */

/** Event at scrolling elements before they are copied: rows outside the window have to be there, too. */
export const COPIED = "copied";

/** What a report shows of a page besides a pinned card is there, and hidden: it is no part of the copy. */
const ASIDE = ".pin-path > :not(.pin-path, .pin-target)";
/** What only works on the live page. A command without a class says nothing of the data, save in a table. */
const CONTROLS = [
  ".toolbar, .tools, .command, .search, .segments, .slider, .resize-handle, [role=tablist]",
  "input, select, textarea, label:has(> :is(input, select, textarea))",
  "button:is(.icon, .primary), a.button, button:not([class], :is(th, td, li, [role=row]) *)",
  ".curve-legend > .link, .scalar-cursor, .graph-minimap, .unseen, .block-empty, .live-hint",
].join();

/**
 * Return a copy of an element, and the figures of the charts in it. A chart in the copy is an empty box whose
 * `data-figure` is its index in `figures`.
 * @param {App} app
 * @param {Element} root
 * @returns {Promise<{copy: HTMLElement, figures: Figure[]}>} a chart in the copy has its figure's number in
 *   `data-figure`
 */
export async function capture(app, root) {
  /** @type {Figure[]} */
  const figures = [];
  const scrollers = root.querySelectorAll(".table-scroll, .tensor-scroll");
  scrollers.forEach((scroller) => scroller.dispatchEvent(new Event(COPIED)));
  const copy = /** @type {HTMLElement} */ (root.cloneNode(true));
  /** @type {[HTMLImageElement, HTMLImageElement][]} */
  const pictures = pairs(root, copy, "img");
  /** @type {[HTMLCanvasElement, HTMLCanvasElement][]} */
  const canvases = pairs(root, copy, "canvas");
  for (const [from, to] of pairs(root, copy, ".chart")) {
    if (!to.closest(ASIDE)) extractFigure(app, from, to, figures);
  }
  canvases.forEach(([from, to]) => to.replaceWith(drawn(from)));
  scrollers.forEach((scroller) => scroller.dispatchEvent(new Event("scroll")));
  await Promise.all(pictures.map(([from, to]) => inline(from, to)));
  plain(app, copy);
  copy.removeAttribute("id");
  copy.classList.remove("full");
  return { copy, figures };
}

/**
 * Empty the copied chart and add the figure of the original to `figures`.
 * @param {App} app
 * @param {Element} from
 * @param {Element} to
 * @param {Figure[]} figures
 */
function extractFigure(app, from, to, figures) {
  const figure = app.charts.figure(from);
  replace(to);
  if (!figure) return;
  to.setAttribute("data-figure", String(figures.length));
  figures.push(named(figure));
}

/**
 * Return the figure with named lines made hoverable, because the copy has a tooltip of its own.
 * @param {Figure} figure
 * @returns {Figure}
 */
function named({ data, layout, config }) {
  const lines = data.map((trace) =>
    trace.name && trace.hoverinfo === "skip" && trace.opacity === 1 && !trace.fill
      ? { ...trace, hoverinfo: "none" }
      : trace,
  );
  return {
    data: lines,
    layout: { ...layout, hovermode: layout.hovermode || "x", autosize: true },
    config,
  };
}

/**
 * Pair each element that matches a selector with its copy.
 * @param {Element} root
 * @param {Element} copy
 * @template {Element} E
 * @param {string} selector
 * @returns {[E, E][]}
 */
function pairs(root, copy, selector) {
  const copies = /** @type {NodeListOf<E>} */ (copy.querySelectorAll(selector));
  const originals = /** @type {NodeListOf<E>} */ (root.querySelectorAll(selector));
  return [...originals].map((element, i) => [element, copies[i]]);
}

/** Return an image with the current content of a canvas. @param {HTMLCanvasElement} canvas */
function drawn(canvas) {
  const size = canvas.getBoundingClientRect();
  const style = { width: `${size.width}px`, height: `${size.height}px` };
  const src = canvas.width && canvas.height ? canvas.toDataURL() : null;
  return h("img", { src, style, class: canvas.className || null, alt: "" });
}

/**
 * Set the source of a copied image to a data URL of the original's bytes.
 * @param {HTMLImageElement} from
 * @param {HTMLImageElement} to
 */
async function inline(from, to) {
  if (from.src.startsWith("data:")) return;
  to.removeAttribute("src");
  if (!from.src || to.closest(ASIDE)) return;
  const bytes = await (await fetch(from.src)).blob();
  to.setAttribute(
    "src",
    await new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(String(reader.result));
      reader.readAsDataURL(bytes);
    }),
  );
}

/**
 * Remove controls from a copy. Names that were buttons or links become plain text, and so do the choice in a
 * row and times that the page counts from now.
 * @param {App} app
 * @param {Element} copy
 */
function plain({ format }, copy) {
  copy.querySelectorAll("[data-wall]").forEach((time) => {
    time.textContent = format.time(Number(time.getAttribute("data-wall")));
  });
  copy.querySelectorAll(":is(li, tr, .why-run) > .segments").forEach((choice) => {
    const chosen = choice.querySelector("[aria-pressed=true]")?.textContent;
    choice.replaceWith(h("span", { class: "badge" }, chosen));
  });
  copy.querySelectorAll(ASIDE).forEach((element) => element.remove());
  copy.querySelectorAll(CONTROLS).forEach((element) => element.remove());
  copy.querySelectorAll("button, a:not(.markdown a[href])").forEach((element) => {
    const { title, style } = /** @type {HTMLElement} */ (element);
    const text = h("span", { class: element.className, title: title || null }, [...element.childNodes]);
    text.style.cssText = style.cssText; // colours of a heat map
    element.replaceWith(text);
  });
  copy.querySelectorAll("[tabindex]").forEach((element) => element.removeAttribute("tabindex"));
}
