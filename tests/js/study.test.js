import assert from "node:assert/strict";
import { test } from "node:test";

import { isAbout } from "../../web/mindinsight/web/static/js/views/lineage/of_study.js";
import { stateOf } from "../../web/mindinsight/web/static/js/views/lineage/study/header.js";
import { failureText, sorted } from "../../web/mindinsight/web/static/js/views/lineage/study/trials.js";
import { parameterNames } from "../../web/mindinsight/web/static/js/views/lineage/study/values.js";

const progress = (more = {}) => ({ wanted: 10, done: 4, running: 0, ...more });
const app = { t: (key, vars) => `${key} ${Object.values(vars).join()}`.trim() };

test("the state of a study follows its tuner, then its trials", () => {
  assert.equal(stateOf({ tuned: true, stopping: false, progress: progress() }), "running");
  assert.equal(stateOf({ tuned: true, stopping: true, progress: progress() }), "stopping");
  assert.equal(stateOf({ tuned: false, stopping: true, progress: progress({ running: 1 }) }), "interrupted");
  assert.equal(stateOf({ tuned: false, stopping: false, progress: progress({ done: 10 }) }), "finished");
  assert.equal(stateOf({ tuned: false, stopping: false, progress: progress({ wanted: null }) }), "idle");
});

test("trials without a value come last in both directions", () => {
  const trials = [{ v: 2 }, {}, { v: 10 }, { v: null }, { v: 1 }];
  const column = { key: "v", label: "v", of: ({ v }) => v };
  assert.deepEqual(sorted(trials, column, false).slice(0, 3), [{ v: 1 }, { v: 2 }, { v: 10 }]);
  assert.deepEqual(sorted(trials, column, true).slice(0, 3), [{ v: 10 }, { v: 2 }, { v: 1 }]);
});

test("texts are sorted as people count", () => {
  const column = { key: "v", label: "v", of: ({ v }) => v };
  const names = sorted([{ v: "b10" }, { v: "b9" }, { v: "a" }], column, false).map(({ v }) => v);
  assert.deepEqual(names, ["a", "b9", "b10"]);
});

test("the reason of a failed trial is a text of its own", () => {
  assert.equal(failureText(app, { failure: { reason: "exit", code: 3 } }), "tuning.failure.exit 3");
  const missing = { reason: "no_target", target: "acc", there: [] };
  assert.equal(failureText(app, { failure: missing }), "tuning.failure.nothing acc");
  assert.equal(
    failureText(app, { failure: { ...missing, there: ["loss"] } }),
    "tuning.failure.no_target acc",
  );
  assert.equal(failureText(app, { failure: null }), "tuning.failure.unknown");
});

test("parameters are those of the file, then any other", () => {
  const study = { parameters: [{ name: "b" }, { name: "a" }], trials: [{ params: { c: 1, a: 2 } }] };
  assert.deepEqual(parameterNames(study), ["b", "a", "c"]);
});

test("a page is about a study unless other runs are chosen, and no study", () => {
  const about = (automatic, study, own) =>
    isAbout({ selection: { automatic: () => automatic }, url: { get: () => study } }, own);
  assert.equal(about(true, null, null), true);
  assert.equal(about(false, "forty", null), true);
  assert.equal(about(false, null, {}), true);
  assert.equal(about(false, null, null), false);
});
