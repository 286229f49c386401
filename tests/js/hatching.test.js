// Hatching: where the cells that are not finite lie on a map.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellBoxes, valueClass } from "../../web/mindinsight/web/static/js/components/hatching.js";

test("neighbours share a box, and rows count from below", () => {
  const boxes = cellBoxes([0, 1, 2, 3], [0, 1], [Float32Array.of(NaN, 1, 1, NaN), [null, null, null, 1]]);
  assert.deepEqual(boxes, [
    { left: 0.25, top: 0.5, width: 0.5, height: 0.5 },
    { left: 0.75, top: 0, width: 0.25, height: 0.5 },
  ]);
});

test("columns are as wide as their steps are apart", () => {
  const [box] = cellBoxes([0, 10, 30], [5], [[1, null, null]]);
  assert.deepEqual(box, { left: 0, top: 0, width: 10 / 45, height: 1 });
});

test("nothing is hatched where all is finite", () => {
  assert.deepEqual(cellBoxes([0, 1], [0], [[null, NaN]]), []);
  assert.deepEqual(cellBoxes([], [], []), []);
});

test("a cell of a table is hatched by what it says", () => {
  assert.equal(valueClass("NaN", "aside"), "aside strange");
  assert.equal(valueClass("−∞"), "strange");
  assert.equal(valueClass("-1.5", "aside"), "aside");
});
