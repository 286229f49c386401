import assert from "node:assert/strict";
import { test } from "node:test";

import {
  idOf,
  commonStart,
  lookAlikes,
  numbered,
  sharedPath,
  visible,
} from "../../web/mindinsight/web/static/js/core/names.js";

test("characters that cannot be seen, or that turn others around, are escapes", () => {
  const texts = {
    "lo\u200bss": "lo\\u200bss",
    "loss\u00ad": "loss\\u00ad",
    "\u202eabc\u2066": "\\u202eabc\\u2066",
    "a\u3164": "a\\u3164",
    "a\u2028b": "a\\u2028b",
    "a\x1b[31m\x00": "a\\u001b[31m\\u0000",
    "a\u{e0061}": "a\\u{e0061}",
    "\ufeffloss": "\\ufeffloss",
    "los\u200ds": "los\\u200ds",
    "loss\ufe0f": "loss\\ufe0f",
  };
  for (const [text, escaped] of Object.entries(texts)) assert.equal(visible(text), escaped);
});

test("texts that people write stay as they are", () => {
  for (const text of [
    "loss/train 1",
    "损失率",
    "損失・率",
    "β1 α",
    "a\n\tb\r\n",
    "❤️ 👩‍💻",
    "می‌خواهم",
    "क्‍ष",
    "é",
    "12 %",
  ]) {
    assert.equal(visible(text), text);
  }
});

test("letters that look like others are named", () => {
  const expected = {
    lоss: ["о"],
    ассuracy: ["а", "с"],
    сору: ["с", "о", "р", "у"],
    Αdam: ["Α"],
    ｌoss: ["ｌ"],
    "𝐥oss": ["𝐥"],
    "cafe\u0301": ["\u0301"],
  };
  for (const [name, characters] of Object.entries(expected)) assert.deepEqual(lookAlikes(name), characters);
  assert.deepEqual(["о", "\u0301", "𝐥"].map(numbered), ["о U+043E", "◌\u0301 U+0301", "𝐥 U+1D425"]);
});

test("names of one script each, and words of several beside each other, are what they look like", () => {
  for (const name of [
    "loss",
    "损失_loss",
    "потери",
    "β1",
    "adam/β",
    "ν",
    "café",
    "学習loss",
    "손실 loss",
    "x²",
    "µs",
    "10 Ω",
    "损失（训练）：1",
    "",
  ]) {
    assert.deepEqual(lookAlikes(name), [], name);
  }
});

test("what all names begin with ends where a word ends, and is left out where it is long", () => {
  assert.equal(commonStart(["resnet50_bs256_lr0.1", "resnet50_bs256_lr0.12"]), "resnet50_bs256_");
  assert.equal(commonStart(["resnet50_bs256_lr1e-4", "resnet50_bs256_lr1e-3"]), "resnet50_bs256_");
  assert.equal(commonStart(["encoder/layers/0", "encoder/layers/12", "encoder/layers/1"]), "encoder/layers/");
  assert.equal(commonStart(["encoder/layers", "encoder/layers/0"]), "");
  assert.equal(commonStart(["experiment/rank_0", "experiment/rank_12"]), "experiment/", "no bare number");
  assert.equal(commonStart(["job8/rank_0", "job8/rank_1"]), "", "short without its word");
  assert.equal(commonStart(["train/loss", "train/accuracy"]), "", "short");
  assert.equal(commonStart(["a_long_name_of_one", "a_long_name_of_one"]), "", "one name");
  assert.equal(commonStart([]), "");
});

test("an address names a run with and without ./", () => {
  assert.deepEqual(["base", "./base", ".", "./", "a/./b", ".hidden"].map(idOf), [
    "./base",
    "./base",
    "./",
    "./",
    "./a/./b",
    "./.hidden",
  ]);
});

test("a name that a person gave does not keep the paths of the others long", () => {
  const paths = ["experiments/resnet/lr0.1", "experiments/resnet/lr0.01"];
  assert.equal(sharedPath(["baseline", ...paths]), "experiments/resnet/");
  assert.equal(sharedPath(["baseline", paths[0]]), "");
  assert.equal(sharedPath(["resnet-lr-0.1-a", "resnet-lr-0.1-b"]), "resnet-lr-0.1-");
});
