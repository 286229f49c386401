// Which lines of a console are marked.

import assert from "node:assert/strict";
import { test } from "node:test";

import { levelOf } from "../../web/mindinsight/web/static/js/views/console/line.js";

test("lines that say they are bad are marked, measures of that name are not", () => {
  const level = (/** @type {string} */ text) => levelOf(text);
  assert.equal(level("2026-11-29 ERROR cannot read the data"), "error");
  assert.equal(level("Traceback (most recent call last):"), "error");
  assert.equal(level("RuntimeError: CUDA out of memory."), "error");
  assert.equal(level("step 60 loss nan"), "error");
  assert.equal(level("WARNING: loss spike"), "warning");
  assert.equal(level("UserWarning: deprecated"), "warning");
  assert.equal(level("epoch 3 error 0.013, 0 errors"), "");
  assert.equal(level("banana finance"), "");
});
