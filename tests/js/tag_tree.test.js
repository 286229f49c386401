// Tree of the tags of the scalar page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { branchPattern, tagBranches } from "../../web/mindinsight/web/static/js/views/scalar/tag_tree.js";

/**
 * @param {import("../../web/mindinsight/web/static/js/views/scalar/tag_tree.js").Branch[]} list
 * @returns {any}
 */
const outline = (list) =>
  list.map(({ name, count, children }) => (children.length ? [name, count, outline(children)] : name));

test("branches count their tags, and one with a single child is joined with it", () => {
  const tags = [
    "train/loss",
    "train/a/norm",
    "train/a/max",
    "loss",
    "eval/deep/x",
    "eval/deep/y",
    "lone/way",
  ];
  assert.deepEqual(outline(tagBranches(tags)), [
    ["eval/deep/", 2, ["x", "y"]],
    "lone/way",
    "loss",
    ["train/", 3, [["a/", 2, ["max", "norm"]], "loss"]],
  ]);
});

test("a tag may be the beginning of others, or begin with a slash", () => {
  assert.deepEqual(outline(tagBranches(["loss", "loss/a", "loss/b", "/x", "//"])).length, 4);
  assert.deepEqual(outline(tagBranches(["/x/a", "/x/b"])), [["/x/", 2, ["a", "b"]]]);
  assert.deepEqual(outline(tagBranches(["a/", "a/b", "a/c"])), [["a/", 3, ["", "b", "c"]]]);
});

test("layers are in the order of their numbers", () => {
  const tags = Array.from({ length: 12 }, (_, i) => `layer/${11 - i}/norm`);
  const [{ children }] = tagBranches(tags);
  assert.deepEqual(children.map(({ path }) => path).slice(0, 3), [
    "layer/0/norm",
    "layer/1/norm",
    "layer/2/norm",
  ]);
});

test("a branch finds its tags and nothing else, whatever characters they have", () => {
  const tags = ["a.b/x", "a.b/y", "axb/z", "c"];
  const [branch, other] = tagBranches(tags);
  const found = (/** @type {any} */ of) => tags.filter((tag) => new RegExp(branchPattern(of)).test(tag));
  assert.deepEqual(found(branch), ["a.b/x", "a.b/y"]);
  assert.deepEqual(found(other), ["axb/z"]);
});
