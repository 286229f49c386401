// SVG of a picture from the server: frames of open scopes at the back, then lines, their titles again, boxes.

import { svg } from "../../core/dom.js";
import { flowing, lineShape } from "./lines.js";

/** @typedef {import("../../core/answers.js").Chip} Chip */
/** @typedef {import("../../core/answers.js").Box} Box */
/** @typedef {import("../../core/answers.js").Line} Line */
/** @typedef {import("../../core/answers.js").Picture} Picture */
/**
 * @typedef {Object} Shapes
 * @property {SVGElement[]} layers
 * @property {Map<number, SVGElement>} boxes
 * @property {{element: SVGElement, line: Line}[]} lines
 */

const HEADER = 26;
const ARROW = 8; // half the width of an arrow head, and a gap
const LETTER = 7.2; // about the width of one
let titles = 0; // numbered over all drawings of a page
const STACKED = new Set(["group", "repeat", "rest", "run"]);

/**
 * Create the shapes of a picture.
 * @param {Picture} picture
 * @param {import("../../core/types.js").Translate} t
 * @returns {Shapes}
 */
export function shapes(picture, t) {
  /** @type {Map<number, SVGElement>} */
  const boxes = new Map();
  const frames = svg("g", { class: "frames" });
  const front = svg("g", { class: "boxes" });
  for (const box of picture.boxes) {
    const element = box.open ? frame(box, t) : closed(box, t);
    boxes.set(box.id, element);
    (box.open ? frames : front).append(element);
  }
  const parents = new Map(picture.boxes.map((box) => [box.id, box.parent]));
  const lines = picture.lines.map((line) => ({
    line,
    element: lineShape(line, parents.get(line.source) === line.target),
  }));
  const captions = [...frames.querySelectorAll(".title")].map(({ id }) => svg("use", { href: `#${id}` }));
  const texts = svg("g", { class: "texts" }, captions, flowing(picture), picture.boxes.map(costs));
  return {
    layers: [
      markers(),
      frames,
      svg(
        "g",
        { class: "lines" },
        lines.map((line) => line.element),
      ),
      texts,
      front,
    ],
    boxes,
    lines,
  };
}

/**
 * Return arrow heads and hatching. Each line colour has its own arrow head, because not every browser lets a
 * marker take the line's colour.
 */
function markers() {
  const head = (/** @type {string} */ name) =>
    svg(
      "marker",
      {
        id: `graph-${name}`,
        class: name,
        orient: "auto",
        markerUnits: "userSpaceOnUse",
        markerWidth: 9,
        markerHeight: 8,
        refX: 8,
        refY: 4,
      },
      svg("path", { d: "M0 0L9 4L0 8z" }),
    );
  const hatch = svg(
    "pattern",
    {
      id: "graph-hatch",
      width: 6,
      height: 6,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    svg("rect", { width: 2, height: 6 }),
  );
  return svg("defs", null, head("arrow"), head("arrow-on"), hatch);
}

/** Create the frame of an open scope. @param {Box} box @param {import("../../core/types.js").Translate} t */
function frame(box, t) {
  return svg(
    "g",
    {
      class: `box frame ${box.kind} ${box.badge?.kind ?? ""}`,
      "data-id": box.id,
      "aria-label": spoken(box, t),
      role: "img",
    },
    svg("rect", { x: box.x, y: box.y, width: box.w, height: box.h, rx: 8 }),
    svg("rect", { class: "header", x: box.x, y: box.y, width: box.w, height: HEADER, rx: 8 }),
    warmth(box),
    svg("text", { class: "title", id: `graph-title-${++titles}`, x: box.x + 26, y: box.y + 17.5 }, box.label),
    mark(box.x + 14, box.y + HEADER / 2, true),
    stubs(box),
    badge(box),
    svg("title", null, box.path),
  );
}

/** Create a closed box. @param {Box} box @param {import("../../core/types.js").Translate} t */
function closed(box, t) {
  return svg(
    "g",
    {
      class: `box closed ${box.kind}${box.dynamic ? " dynamic" : ""} ${box.badge?.kind ?? ""}`,
      "data-id": box.id,
      "aria-label": spoken(box, t),
      role: "img",
    },
    STACKED.has(box.kind)
      ? [6, 3].map((by) =>
          svg("rect", { class: "behind", x: box.x + by, y: box.y - by, width: box.w, height: box.h, rx: 6 }),
        )
      : null,
    svg("rect", {
      x: box.x,
      y: box.y,
      width: box.w,
      height: box.h,
      rx: box.kind === "plumbing" ? box.h / 2 : 6,
    }),
    warmth(box),
    closedTexts(box, box.label || t("graph.call")),
    stubs(box),
    box.chips.map((item) => chip(item, box)),
    box.hidden > 0 &&
      svg(
        "text",
        { class: "count", x: box.x - 14, y: below(box.chips) + 11, "text-anchor": "end" },
        `+${box.hidden}`,
      ),
    badge(box),
    svg("title", null, [box.path, box.type, box.text, box.badge?.label].filter(Boolean).join("\n")),
  );
}

/** Return the texts in a closed box. @param {Box} box @param {string} label */
function closedTexts(box, label) {
  const scope = box.count > 0;
  const middle = box.y + box.h / 2;
  const [x, anchor] = scope ? [box.x + 26, "start"] : [box.x + box.w / 2, "middle"];
  const high = middle + (box.text ? -3 : 4);
  return [
    svg("text", { class: "title", x, y: high, "text-anchor": anchor }, label),
    box.text && svg("text", { class: "sub", x, y: middle + 12, "text-anchor": anchor }, box.text),
    scope && mark(box.x + 14, middle, false),
    scope &&
      svg("text", { class: "count", x: box.x + box.w - 9, y: high, "text-anchor": "end" }, String(box.count)),
  ];
}

/**
 * Return parameters and operations of an open scope, or null if its title leaves no room.
 * @param {Box} box
 */
function costs({ x, y, w, label, text, open }) {
  if (!text || !open || (label.length + text.length) * LETTER + 60 > w) return null;
  return svg("text", { class: "sub flowing", x: x + w - 10, y: y + 17.5, "text-anchor": "end" }, text);
}

/** Return the bottom of a box's chips. @param {Chip[]} chips */
function below(chips) {
  return Math.max(...chips.map((item) => item.y + item.h));
}

/** Create the plus or minus sign of a scope. @param {number} x @param {number} y @param {boolean} open */
function mark(x, y, open) {
  const d = open ? `M${x - 3} ${y}h6` : `M${x - 3} ${y}h6M${x} ${y - 3}v6`;
  return svg("g", { class: "mark" }, svg("circle", { cx: x, cy: y, r: 6.5 }), svg("path", { d }));
}

/**
 * Return the colour and hatching of a box. Open scopes are coloured only in their header.
 * @param {Box} box
 */
function warmth({ heat, hatched, open, kind, x, y, w, h: high }) {
  const height = open ? HEADER : high;
  const area = { x, y, width: w, height, rx: open ? 8 : kind === "plumbing" ? high / 2 : 6 };
  return [
    heat &&
      svg("rect", { class: "warm", ...area, style: { "fill-opacity": (0.08 + 0.62 * heat).toFixed(2) } }),
    hatched && svg("rect", { class: "hatch", ...area, fill: "url(#graph-hatch)" }),
  ];
}

/** Create the badge on the upper right corner, beside the arrow into the box, or null. @param {Box} box */
function badge(box) {
  if (!box.badge) return null;
  const width = 10 + 7 * box.badge.text.length;
  const x = Math.max(box.x + box.w - width + 8, box.x + box.w / 2 + ARROW);
  return svg(
    "g",
    { class: "badge" },
    svg("rect", { x, y: box.y - 12, width, height: 16, rx: 8 }),
    svg("text", { x: x + width / 2, y: box.y, "text-anchor": "middle" }, box.badge.text),
  );
}

/** Return short arrows for values that come from or go to places without a line. @param {Box} box */
function stubs(box) {
  const x = box.x + box.w - 14;
  const bottom = box.y + box.h;
  return [
    box.enters
      ? svg("path", { class: "stub", d: `M${x} ${box.y - 11}v9M${x - 3} ${box.y - 5}l3 4l3 -4` })
      : null,
    box.leaves
      ? svg("path", { class: "stub", d: `M${x} ${bottom}v10M${x - 3} ${bottom + 6}l3 4l3 -4` })
      : null,
  ];
}

/** Create the chip of a parameter or constant. @param {Chip} item @param {Box} box */
function chip(item, box) {
  const y = item.y + item.h / 2;
  const middle = Math.min(Math.max(y, box.y + 4), box.y + box.h - 4);
  return svg(
    "g",
    { class: `chip ${item.kind}`, "data-outer": item.node },
    svg("path", { d: `M${item.x + item.w} ${y}L${box.x} ${middle}` }),
    svg("rect", { x: item.x, y: item.y, width: item.w, height: item.h, rx: item.h / 2 }),
    svg("text", { x: item.x + item.w / 2, y: y + 3.8, "text-anchor": "middle" }, item.label),
    svg("title", null, item.name === item.label ? item.name : `${item.name}\n${item.label}`),
  );
}

/**
 * Return the text that screen readers announce for a box.
 * @param {Box} box
 * @param {import("../../core/types.js").Translate} t
 */
export function spoken(box, t) {
  const kind = t(`graph.kind.${box.kind}`);
  const size = box.count
    ? t(box.open ? "graph.said.open" : "graph.said.closed", { n: box.count })
    : [box.type, box.text].filter(Boolean).join(", ");
  return [box.label || t("graph.call"), kind, size, box.badge?.label]
    .filter((text) => text !== undefined)
    .join(", ");
}
