// Overview tile of the computational graph.

import { h, replace, svg } from "../../core/dom.js";
import { datasetTile } from "./dataset_tile.js";
import { counts } from "./messages.js";
import { shapes } from "../../components/graph/shapes.js";

/** @typedef {import("../../components/graph/shapes.js").Picture} Picture */

// What of a large drawing is shown: its beginning, legible, rather than all of it as a speck.
const MOST = { width: 480, height: 270 };

/** @type {import("../../core/types.js").TileKind} */
const graphTile = {
  kind: "graph",
  title: "nav.graph",
  view: "graph",
  has: (run) => Boolean(run.kinds.graph),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/graph/graphs", { run: run.id }, { signal });
    const picture = await app.api.get("v2/graph/picture", { run: run.id, tag: tags[0] }, { signal });
    return (box, figures) => {
      const texts = counts(app, picture).map((text) => h("span", null, text));
      replace(figures, ...texts);
      replace(box, pictureElement(app, picture));
    };
  },
};

/**
 * Return the part of a picture to show: the top as far as it fits, centred on the first box, because the
 * middle of a wide scope may be empty.
 * @param {Picture} picture
 * @returns {{x: number, width: number, height: number}}
 */
export function beginning({ width, height, boxes }) {
  const wide = Math.min(width, MOST.width);
  const first = boxes.find((box) => !box.open && box.y + box.h < MOST.height);
  const middle = first ? first.x + first.w / 2 : width / 2;
  return {
    x: Math.min(Math.max(0, middle - wide / 2), width - wide),
    width: wide,
    height: Math.min(height, MOST.height),
  };
}

/** Create the drawing of the tile. @param {import("../../core/types.js").App} app @param {Picture} picture */
function pictureElement({ t }, picture) {
  const { x, width, height } = beginning(picture);
  const cut = height < picture.height ? " cut" : "";
  return svg(
    "svg",
    {
      class: `graph-drawing graph-tile${cut}`,
      viewBox: `${x} 0 ${width} ${height}`,
      preserveAspectRatio: "xMidYMin",
      role: "img",
      "aria-label": t("nav.graph"),
    },
    shapes(picture, t).layers,
  );
}

export const tiles = [graphTile, datasetTile];
