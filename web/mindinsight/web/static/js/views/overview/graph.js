// The computational graph with its scopes closed, as the server lays it out.

import { h, replace, svg } from "../../core/dom.js";

/** @typedef {{x: number, y: number, w: number, h: number, label: string, kind: string, count: number}} Box */
/** @typedef {{width: number, height: number, boxes: Box[], lines: {points: number[]}[]}} Picture */

/** @type {import("./tiles.js").TileKind} */
export const graphTile = {
  kind: "graph",
  title: "nav.graph",
  view: "graph",
  has: (run) => Boolean(run.kinds.graph),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/graph/graphs", { run: run.id }, { signal });
    const picture = await app.api.get("v2/graph/picture", { run: run.id, tag: tags[0], open: "" }, { signal });
    return (box, figures) => {
      const count = (/** @type {string} */ kind) => h("span", null, app.t(`overview.${kind}`, { n: picture[kind] }));
      replace(figures, count("operators"), count("parameters"), count("constants"));
      replace(box, drawn(picture, app.t("nav.graph")));
    };
  },
};

/** @param {Picture} picture @param {string} label */
function drawn(picture, label) {
  const paths = picture.lines.map(({ points }) => svg("polyline", { points: points.join(" "), class: "graph-line", "marker-end": "url(#tile-arrow)" }));
  const head = svg("marker", { id: "tile-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8z" }));
  const boxes = picture.boxes.map((box) =>
    svg(
      "g",
      null,
      svg("title", null, box.count ? `${box.label} (${box.count})` : box.label),
      svg("rect", { x: box.x, y: box.y, width: box.w, height: box.h, rx: 5, class: `graph-box ${box.kind}` }),
      svg("text", { x: box.x + box.w / 2, y: box.y + box.h / 2, "text-anchor": "middle", "dominant-baseline": "central" }, box.label),
    ),
  );
  const width = Math.min(picture.width * 1.6, 340); // small graphs are not blown up
  return svg("svg", { class: "graph-tile", viewBox: `0 0 ${picture.width} ${picture.height}`, width, role: "img", "aria-label": label }, svg("defs", null, head), paths, boxes);
}
