import assert from "node:assert/strict";
import { test } from "node:test";

import { comparedSettings } from "../../web/mindinsight/web/static/js/views/scalar/compare_tables.js";
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

test("a setting that a run did not record neither differs nor is the same", () => {
  const compared = (/** @type {Record<string, any>[]} */ ...runs) => {
    const { names, claims } = comparedSettings(runs.map((hyper) => ({ hyper })));
    return [names, claims.map(({ key }) => key.replace("claim.compare.", ""))];
  };
  assert.deepEqual(compared({ lr: 1 }, { lr: 1 }), [[], ["same_settings"]]);
  assert.deepEqual(compared({ lr: 1, seed: 1 }, { lr: 2 }), [
    ["lr", "seed"],
    ["settings_differ", "settings_partly"],
  ]);
  assert.deepEqual(compared({}, {}), [[], ["no_settings"]]);
  assert.deepEqual(compared({ lr: 1, dir: "/a", x: 1 }, { lr: 2, dir: "/b", x: 1 }), [
    ["lr", "dir"],
    ["settings_differ", "settings_naming"],
  ]);
  assert.deepEqual(compared({ dir: "/a" }, { dir: "/b" }), [["dir"], ["settings_naming"]]);
});
