// Levels that landscapes share, planes that differ, points of a path that have a number.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  differentPlanes,
  sharedLevels,
  sharedRange,
} from "../../web/mindinsight/web/static/js/views/landscape/levels.js";
import { labelled } from "../../web/mindinsight/web/static/js/views/landscape/path_traces.js";

const plane = { x: [0, 1], y: [0, 1], z: [1, 2, 3, NaN], decomposition: "PCA" };

test("levels are round and hold for all landscapes", () => {
  assert.deepEqual(sharedLevels([plane, { ...plane, z: [11] }], 10), { start: 1, end: 11, size: 1 });
  assert.equal(sharedLevels([{ ...plane, z: [2, 2] }], 10), null);
  assert.equal(sharedLevels([{ ...plane, z: [NaN] }], 10), null);
  assert.deepEqual(sharedRange([plane, { ...plane, z: [11] }]), [1, 11]);
  assert.equal(sharedRange([{ ...plane, z: [NaN] }]), null);
});

test("planes differ by their axes or how they were found", () => {
  assert.equal(differentPlanes([plane, { ...plane }]), false);
  assert.equal(differentPlanes([plane, { ...plane, x: [0, 2] }]), true);
  assert.equal(differentPlanes([plane, { ...plane, y: [0, 0.5, 1] }]), true);
  assert.equal(differentPlanes([plane, { ...plane, decomposition: "Random" }]), true);
  assert.equal(differentPlanes([]), false);
});

test("the first and the last point of a path have numbers, and some between", () => {
  assert.deepEqual(labelled(9), [0, 2, 4, 6, 8]);
  assert.deepEqual(labelled(2), [0, 1]);
  assert.deepEqual(labelled(1), [0]);
  assert.deepEqual(labelled(0), []);
});
