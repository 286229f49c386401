import assert from "node:assert/strict";
import { test } from "node:test";

import { strongest } from "../../web/mindinsight/web/static/js/views/histogram/figures.js";

test("a few steps with all values in one bin do not take the contrast of the others", () => {
  const peaks = new Float32Array(20).fill(0.25);
  peaks[0] = peaks[7] = 1;
  assert.equal(strongest(peaks), 0.25);
});

test("the strongest colour belongs to a step that was recorded", () => {
  assert.equal(strongest(Float32Array.of(0.5)), 0.5);
  assert.equal(strongest(Float32Array.of(0.25, 0.75)), 0.75);
  assert.equal(strongest(new Float32Array(0)), 1);
});
