import assert from "node:assert/strict";
import { test } from "node:test";

import { composed, splitDims, stepped } from "../../web/mindinsight/web/static/js/views/tensor/dims.js";

test("a slice is one text for each dimension, with or without brackets", () => {
  assert.deepEqual(splitDims("[0,0, :, 1:5]"), ["0", "0", ":", "1:5"]);
  assert.deepEqual(splitDims("3,:"), ["3", ":"]);
  assert.deepEqual(splitDims("[]"), []);
});

test("an empty box takes all of its dimension", () => {
  assert.equal(composed(["0", "", " 2 ", ":"]), "[0,:,2,:]");
});

test("arrows go through a dimension and stay within it", () => {
  assert.equal(stepped("3", "ArrowUp", 5), "4");
  assert.equal(stepped("3", "ArrowDown", 5), "2");
  assert.equal(stepped("4", "ArrowUp", 5), null);
  assert.equal(stepped("0", "ArrowDown", 5), null);
});

test("what is no single number is left alone", () => {
  for (const text of [":", "1:3", "", "-1"]) assert.equal(stepped(text, "ArrowUp", 5), null);
  assert.equal(stepped("1", "a", 5), null);
});
