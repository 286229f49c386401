import assert from "node:assert/strict";
import { test } from "node:test";

import { beginning } from "../../web/mindinsight/web/static/js/views/graph/tile.js";
import { dots, figure } from "../../web/mindinsight/web/static/js/views/scalar/tile.js";

test("the part of a wide graph that is shown holds its first box", () => {
  const boxes = [
    { open: true, x: 20, y: 20, w: 1800, h: 900 },
    { open: false, x: 100, y: 90, w: 100, h: 40 },
    { open: false, x: 1500, y: 60, w: 100, h: 40 },
  ];
  assert.deepEqual(beginning({ width: 2000, height: 1000, boxes }), { x: 0, width: 480, height: 270 });
  assert.equal(beginning({ width: 2000, height: 1000, boxes: [boxes[0], boxes[2]] }).x, 1310);
});

test("a graph whose first boxes lie far below, or that has none, is shown from its middle", () => {
  assert.equal(
    beginning({ width: 2000, height: 1000, boxes: [{ open: false, x: 0, y: 800, w: 100, h: 40 }] }).x,
    760,
  );
  assert.deepEqual(beginning({ width: 300, height: 100, boxes: [] }), { x: 0, width: 300, height: 100 });
});

test("a value that no line leads to has a dot", () => {
  assert.deepEqual(dots([1]), [7]);
  assert.deepEqual(dots([1, NaN, 2, 3, NaN, 4]), [7, 0, 0, 0, 0, 7]);
});

test("a small constant is drawn at its value", () => {
  const app = {
    selection: { colour: () => "#000000" },
    theme: { plotly: () => ({}), axis: (more = {}) => more },
  };
  const lr = Math.fround(0.001);
  const { yaxis } = figure(app, "./a", [1, 2, 3], [lr, lr, lr]).layout;
  assert.ok(yaxis.range[0] > 0.0008 && yaxis.range[1] < 0.0012, String(yaxis.range));
  assert.ok(yaxis.ticktext.includes("0.001"));
  assert.deepEqual(figure(app, "./a", [1], [NaN]).layout.yaxis, {});
});
