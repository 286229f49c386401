import assert from "node:assert/strict";
import { test } from "node:test";

import { tellingTags } from "../../web/mindinsight/web/static/js/views/scalar/telling.js";

test("the loss comes first, then one of each quantity, the training's before the evaluation's", () => {
  const tags = [
    "a/first",
    "b/second",
    "eval/accuracy",
    "eval/loss",
    "grad_norm/decoder",
    "grad_norm/encoder",
    "lr",
    "train/accuracy",
    "train/loss",
  ];
  assert.deepEqual(tellingTags(tags, 4), ["train/loss", "train/accuracy", "grad_norm/decoder", "lr"]);
  assert.deepEqual(tellingTags(tags, 6).slice(0, 3), ["train/loss", "eval/loss", "train/accuracy"]);
});

test("what has no telling name is shown all the same", () => {
  assert.deepEqual(tellingTags(["y", "x"], 6), ["x", "y"]);
  assert.deepEqual(tellingTags([], 6), []);
});
