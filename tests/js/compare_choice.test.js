// Choice of the reference of a comparison of dumps: which dump and step are offered.

import assert from "node:assert/strict";
import { test } from "node:test";

import { mostSimilar, neighbour } from "../../web/mindinsight/web/static/js/views/dump/compare_choice.js";

test("another dump is offered before the dump itself, the one with the most similar name first", () => {
  assert.equal(mostSimilar("./cmp_b/dump", ["./big/dump", "./cmp_a/dump", "./cmp_c/dump"]), "./cmp_a/dump");
  assert.equal(mostSimilar("./cmp_b/dump", ["./x/dump"]), "./x/dump");
  assert.equal(mostSimilar("./cmp_b/dump", []), "./cmp_b/dump");
});

test("of the same dump, another step is offered", () => {
  const ranks = [{ rank: 0, steps: [1, 2, 5] }];
  assert.deepEqual(neighbour({ rank: 0, step: 5 }, ranks), { rank: 0, step: 2 });
  assert.deepEqual(neighbour({ rank: 0, step: 1 }, ranks), { rank: 0, step: 2 });
});
