import assert from "node:assert/strict";
import { test } from "node:test";

import { short } from "../../web/mindinsight/web/static/js/components/dump/rows.js";

test("a shortened name keeps the numbers of its blocks", () => {
  const block = (n) => `Default/blocks-ModuleList/${n}-Block/mlp-MLP/fc1-Linear/t-op16`;
  assert.equal(short(block(2)), "…/2-Block/…/fc1-Linear/t-op16");
  assert.notEqual(short(block(2)), short(block(3)));
  assert.equal(
    short("Default/layer1-Sequential/0-BasicBlock/conv-Conv2d/mul-op0"),
    "…/layer1-Sequential/0-BasicBlock/conv-Conv2d/mul-op0",
  );
});

test("scopes without a number are left out of a shortened name", () => {
  assert.equal(short("Default/net-Net/conv-Conv2d/act-ReLU/relu-op0"), "…/act-ReLU/relu-op0");
  assert.equal(short("conv1-Conv2d/Conv2D-op51"), "conv1-Conv2d/Conv2D-op51");
  assert.equal(short("blocks.2.mlp.fc1.weight"), "blocks.2.mlp.fc1.weight");
});
