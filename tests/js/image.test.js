// Images: columns of the runs, and the zoom around a place.

import assert from "node:assert/strict";
import { test } from "node:test";

import { columnsOf } from "../../web/mindinsight/web/static/js/views/image.js";
import { WHOLE, zoomAt } from "../../web/mindinsight/web/static/js/views/image/zoom.js";

test("every run with a picture has a column, in the order of the list", () => {
  const tags = [
    { tag: "a", runs: ["./3", "./1"] },
    { tag: "b", runs: ["./1"] },
  ];
  assert.deepEqual(columnsOf(["./1", "./2", "./3"], tags), ["./1", "./3"]);
  assert.deepEqual(columnsOf(["./2"], tags), []);
});

test("what is under the pointer stays there while the picture grows", () => {
  const grown = zoomAt(WHOLE, 2, 30, -10);
  assert.deepEqual(grown, { scale: 2, x: -30, y: 10 });
  const at = (zoom, x) => (x - zoom.x) / zoom.scale; // in the picture, from its middle
  assert.equal(at(zoomAt(grown, 1.5, 30, 0), 30), at(grown, 30));
  assert.deepEqual(zoomAt(grown, 0.25, 5, 5), { ...WHOLE }, "never smaller than the stage");
  assert.equal(zoomAt({ scale: 60, x: 0, y: 0 }, 2, 0, 0).scale, 64);
});
