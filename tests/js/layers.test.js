import assert from "node:assert/strict";
import { test } from "node:test";

import { colourRange } from "../../web/mindinsight/web/static/js/views/scalar/layer_figure.js";
import { layerStacks } from "../../web/mindinsight/web/static/js/views/scalar/layer_tags.js";

const layers = (make, count) => Array.from({ length: count }, (_, i) => make(i));

test("one stack for each suffix, and none for what few layers have", () => {
  const tags = [
    "loss",
    "beta1",
    "beta2",
    ...layers((i) => `layers.${i}/norm`, 24),
    ...layers((i) => `layers.${i}/attn/max`, 24),
  ];
  assert.deepEqual(
    layerStacks(tags).map(({ stem, tags: members }) => [stem, members.length]),
    [
      ["layers.*/norm", 24],
      ["layers.*/attn/max", 24],
    ],
  );
});

test("of several numbers the one that varies most is the layer's", () => {
  const tags = layers((i) => layers((part) => `h.${i}.mlp.${part}/norm`, 3), 12).flat();
  assert.deepEqual(
    layerStacks(tags).map(({ stem }) => stem),
    ["h.*.mlp.0/norm", "h.*.mlp.1/norm", "h.*.mlp.2/norm"],
  );
});

test("numbers within words count at their end", () => {
  assert.deepEqual(
    layerStacks(layers((i) => `encoder/layer${i}/grad`, 5)).map(({ stem }) => stem),
    ["encoder/layer*/grad"],
  );
});

test("a few extreme values do not stretch the colours", () => {
  const values = [...layers((i) => i, 1000), 1e9, NaN];
  assert.deepEqual(colourRange(values), [10, 990]);
  assert.deepEqual(colourRange([3, 3]), [2.5, 3.5]);
  assert.deepEqual(colourRange([]), [0, 1]);
});
