import assert from "node:assert/strict";
import { test } from "node:test";

import { lineUnder } from "../../web/mindinsight/web/static/js/components/graph/hover.js";

const straight = { points: [0, 0, 0, 100] };
const curve = { points: [50, 0, 150, 100] };
const route = { points: [300, 0, 300, 50, 400, 100] };
const lines = [straight, curve, route];

test("a line is under a point that is near it", () => {
  assert.equal(lineUnder(lines, 3, 40, 7), 0);
  assert.equal(lineUnder(lines, 103, 50, 7), 1);
  assert.equal(lineUnder(lines, 303, 20, 7), 2);
  assert.equal(lineUnder(lines, 398, 98, 7), 2);
});

test("there is none where nothing is near", () => {
  assert.equal(lineUnder(lines, 20, 40, 7), -1);
  assert.equal(lineUnder(lines, 0, 120, 7), -1);
  assert.equal(lineUnder([], 0, 0, 7), -1);
});

test("a curve leaves its ends upright, so that the chord is not on it", () => {
  assert.equal(lineUnder([curve], 51, 12, 7), 0);
  assert.equal(lineUnder([curve], 76, 20, 7), -1);
});

test("of two near lines the nearer one is meant", () => {
  const close = [straight, { points: [8, 0, 8, 100] }];
  assert.equal(lineUnder(close, 3, 50, 7), 0);
  assert.equal(lineUnder(close, 5, 50, 7), 1);
});
