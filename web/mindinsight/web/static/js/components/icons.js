// Line icons on a 16 × 16 grid in the colour of the text.

import { svg } from "../core/dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3.5 3.5",
  close: "M4 4l8 8M12 4l-8 8",
  pin: "M8 10v4M4.5 10h7L10 7.5V3.5l1-1.5H5l1 1.5v4z",
  hide:
    "M2 2l12 12M6.5 4a7 7 0 0 1 1.5-.2c4 0 6 4.2 6 4.2a11 11 0 0 1-1.8 2.3" +
    "M9.5 9.6A2.2 2.2 0 0 1 6.4 6.5M4 5.3A11 11 0 0 0 2 8s2 4.2 6 4.2a6 6 0 0 0 2.3-.5",
  eye: "M2 8s2-4.2 6-4.2S14 8 14 8s-2 4.2-6 4.2S2 8 2 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  note: "M3.5 2.5h9v11h-9zM5.5 5.5h5M5.5 8h5M5.5 10.5h3",
  label: "M2.5 2.5h5.5l5.5 5.5-5.5 5.5-5.5-5.5zM5.4 5.4h.1",
  bookmark: "M4 2.5h8v11l-4-3.2-4 3.2z",
  palette:
    "M8 2.2a5.8 5.8 0 1 0 0 11.6c1.3 0 1.4-.9 1-1.6-.5-1 .1-1.9 1.2-1.9h1.6" +
    "c1.2 0 2-.8 2-2.1A5.9 5.9 0 0 0 8 2.2zM5 8.4h.01M6.4 5.4h.01M10 5.2h.01",
  keyboard: "M1.5 4h13v8h-13zM4 6.6h.01M6.7 6.6h.01M9.3 6.6h.01M12 6.6h.01M5 9.4h6",
  edit: "M3 13l.6-2.6 7.2-7.2 2 2-7.2 7.2zM9.4 4.6l2 2",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  expand: "M9.5 2.5h4v4M13.5 2.5l-5 5M6.5 13.5h-4v-4M2.5 13.5l5-5",
  shrink: "M13 3l-4.5 4.5M8.5 4v3.5H12M3 13l4.5-4.5M7.5 12V8.5H4",
  download: "M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13h10",
  reset: "M3 8a5 5 0 1 0 1.6-3.7L3 5.8M3 2.5v3.3h3.3",
  swap: "M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  left: "M10 4l-4 4 4 4",
  warning: "M8 2.5l6.2 11H1.8zM8 6.5v3.2M8 11.5v.2",
  info: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.3V11M8 5v.2",
  sun:
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.5v1.3M8 13.2v1.3" +
    "M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  system: "M2 3h12v8H2zM6 13.5h4M8 11v2.5",
  grid: "M3 3h3.5v3.5H3zM9.5 3H13v3.5H9.5zM3 9.5h3.5V13H3zM9.5 9.5H13V13H9.5z",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  runs: "M2.5 3.5h11M2.5 8h11M2.5 12.5h11",
  bell:
    "M8 2a4 4 0 0 0-4 4c0 3.5-1.5 4.5-1.5 5.5h11c0-1-1.5-2-1.5-5.5a4 4 0 0 0-4-4z" +
    "M6.5 13.5a1.6 1.6 0 0 0 3 0",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.2 1.2a2.8 2.8 0 0 1-4-4L5 7.5",
  settings: "M2.5 5h6M11.5 5h2M10 3.5v3M2.5 11h2M7.5 11h6M6 9.5v3",
  play: "M5 3.5l7 4.5-7 4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  check: "M3 8.5l3.3 3.3L13 5",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  dataset: "M2 3.5h5v3.5H2zM9 9h5v3.5H9zM4.5 7v3.8H9",
  code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5M9 3L7 13",
  page: "M4 2h5l3 3v9H4zM8 6v5M6 9l2 2 2-2",
  report: "M3 2.5h10v11H3zM5.5 5h5M5.5 11l2-2.5 1.5 1.5 1.5-2.5",
  up: "M4 10l4-4 4 4",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
};

/**
 * Create a view's icon from its own `icon.svg`.
 * @param {import("../core/types.js").App} app
 * @param {string} view
 */
export function viewIcon(app, view) {
  return icon(viewPath(app, view));
}

/**
 * Return the SVG path of a view's icon, or "" for an unknown view.
 * @param {import("../core/types.js").App} app
 * @param {string} view
 */
export function viewPath(app, view) {
  return app.boot.views.find(({ name }) => name === view)?.icon ?? "";
}

/**
 * Create an icon from its name or from an SVG path.
 * @param {string} name of an icon, or the path of one
 * @returns {SVGElement}
 */
export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    svg("path", {
      d: PATHS[name] ?? name,
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.4,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
  );
}
