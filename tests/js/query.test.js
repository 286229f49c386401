import assert from "node:assert/strict";
import { test } from "node:test";

import {
  matchesQuery,
  namesIn,
  numberIn,
  parseQuery,
  understood,
  unknownNames,
  withoutNumber,
} from "../../web/mindinsight/web/static/js/components/runs/query.js";

const run = { id: "./sweep/LeNet_3", note: "best so far", labels: ["重要"] };
const facts = { loss: 0.05, lr: 0.001, optimizer: "Adam", epoch: 3 };
const matches = (text) => matchesQuery(parseQuery(text), run, (_, name) => facts[name]);

test("all words must be found, in id, note or labels, whatever the case", () => {
  assert.ok(matches(""));
  assert.ok(matches("lenet SWEEP"));
  assert.ok(matches("best 重要"));
  assert.ok(!matches("lenet resnet"));
});

test("words in quotes stay together", () => {
  assert.ok(matches('"best so"'));
  assert.ok(!matches('"so best"'));
});

test("patterns between slashes, with case unless they say i", () => {
  assert.ok(matches("/LeNet_\\d$/"));
  assert.ok(!matches("/lenet_\\d$/"));
  assert.ok(matches("/lenet_\\d$/i"));
  assert.ok(matches("/sweep\\/Le/ best"));
  assert.throws(() => parseQuery("/(/"), SyntaxError);
});

test("a pattern is matched against the name as it is shown", () => {
  assert.ok(matches("/^sweep/"));
  assert.ok(!matches("/^\\./"));
});

test("a state finds runs, beside names that hold the word", () => {
  const state = (_, name) => (name === "state" ? "failed" : undefined);
  assert.ok(matchesQuery(parseQuery("Failed"), run, state));
  assert.ok(!matchesQuery(parseQuery("fail"), run, state));
  assert.ok(!matchesQuery(parseQuery("running"), run, state));
});

test("a comparison of what no run has is known", () => {
  const lookup = (_, name) => facts[name];
  assert.deepEqual(unknownNames(parseQuery("nope>1 loss<1 nope<3"), [run], lookup), ["nope"]);
});

test("comparisons of numbers", () => {
  for (const text of [
    "loss<0.1",
    "loss<=0.05",
    "lr>=1e-3",
    "lr>1e-4",
    "epoch=3",
    "epoch==3",
    "epoch!=4",
    "loss<0.1 lr>=1e-3",
  ]) {
    assert.ok(matches(text), text);
  }
  for (const text of ["loss<0.05", "loss>1", "epoch!=3", "epoch=4", "loss<0.1 lr>1e-3"]) {
    assert.ok(!matches(text), text);
  }
});

test("comparisons of words", () => {
  assert.ok(matches("optimizer=adam"));
  assert.ok(matches('optimizer="Adam"'));
  assert.ok(matches("optimizer!=SGD"));
  assert.ok(!matches("optimizer=SGD"));
  assert.ok(!matches("optimizer<1"));
});

test("what a run does not have is only unequal", () => {
  assert.ok(!matches("accuracy>0"));
  assert.ok(!matches("accuracy=0"));
  assert.ok(matches("accuracy!=0"));
});

test("what is not a number is in no order", () => {
  const nan = matchesQuery(parseQuery("loss<1"), run, () => NaN);
  assert.equal(nan, false);
});

test("the names that are compared are known before values are", () => {
  assert.deepEqual(namesIn(parseQuery("lenet loss<0.1 /x/ lr>=1e-3")), ["loss", "lr"]);
});

test("numbers as people write them", () => {
  assert.equal(numberIn("12.8kB"), 12_800);
  assert.equal(numberIn("1k"), 1000);
  assert.equal(numberIn("50%"), 0.5);
  assert.equal(numberIn("2h"), 7200);
  assert.equal(numberIn("−1e-3"), -0.001);
  assert.equal(numberIn("-Inf"), -Infinity);
  for (const text of ["", "abc", "1x", "kB", "nan"]) assert.ok(Number.isNaN(numberIn(text)), text);
});

test("values of every kind are compared", () => {
  const have = {
    loss: Infinity,
    lr: "0.5",
    amp: false,
    "hparam/acc": 0.9,
    "a b": "c",
    step: -1,
    size: 12_800,
  };
  const holds = (text) => matchesQuery(parseQuery(text), run, (_, name) => have[name]);
  for (const text of ["loss=inf", "loss=+Inf", "loss>5", "lr>0.1", "lr=0.50", "amp=false"]) {
    assert.ok(holds(text), text);
  }
  for (const text of ['"hparam/acc">0.85', '"a b"=c', "step<0", "step=-1", "size>10kB"]) {
    assert.ok(holds(text), text);
  }
  for (const text of ["loss<1e9", "lr>1", "amp=true", "size<10kB", "lr>abc"]) assert.ok(!holds(text), text);
});

test("a comparison in quotes is text, one without a number is told", () => {
  assert.deepEqual(parseQuery('"lr>0.1"'), [{ text: "lr>0.1" }]);
  const terms = parseQuery("lr> lr>abc lr>1 opt=adam opt=");
  assert.deepEqual(withoutNumber(terms), ["lr>", "lr>abc", "opt="]);
});

test("a number is found as files have it, and one that is none is named", () => {
  const stored = (/** @type {string} */ text) => matchesQuery(parseQuery(text), run, () => Math.fround(0.02));
  assert.ok(stored("loss=0.02") && stored("loss<=0.02") && stored("loss>=0.02"));
  assert.ok(!stored("loss!=0.02") && !stored("loss<0.02") && !stored("loss>0.02"));
  assert.deepEqual(withoutNumber(parseQuery("loss>1e400")), ["loss>1e400"]);
});

test("a state is found by the page's own word for it, and by the English one", () => {
  const words = { failed: "失败", finished: "已完成" };
  const state = (_, name) => (name === "state" ? "failed" : undefined);
  const finds = (text) => matchesQuery(parseQuery(text), run, state, words);
  assert.ok(
    finds("失败") && finds("failed") && finds("state=失败") && finds("state=failed") && finds("state:failed"),
  );
  assert.ok(finds("state!=已完成"));
  assert.ok(!finds("已完成") && !finds("state=已完成") && !finds("state!=失败"));
});

test("a word finds the settings of a run: texts that hold it, numbers that equal it", () => {
  const set = { ...run, hyper: { optimizer: "AdamW", lr: 0.001, width: 512 } };
  const found = (text) => matchesQuery(parseQuery(text), set, () => undefined);
  assert.ok(found("adam"));
  assert.ok(found("1e-3"));
  assert.ok(found("adam 512"));
  assert.ok(!found("51"));
  assert.ok(!found("sgd"));
});

test("each term is told as it was understood", () => {
  const words = { failed: "失败" };
  const told = understood(parseQuery("Adam /^a.b$/i lr>=1e-3 state:失败 acc<50%"), words);
  assert.deepEqual(
    told.map(({ values }) => Object.values(values)),
    [["adam"], ["/^a.b$/i"], ["lr", "≥", "0.001"], ["state", "=", "失败"], ["acc", "<", "0.5"]],
  );
});
