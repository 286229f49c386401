import assert from "node:assert/strict";
import { test } from "node:test";

import { marksOf } from "../../web/mindinsight/web/static/js/components/graph/dump_marks.js";
import { healthText } from "../../web/mindinsight/web/static/js/components/graph/dump_legend.js";
import {
  nearestFirst,
  runWithGraph,
} from "../../web/mindinsight/web/static/js/components/graph/nearest_dumps.js";

const app = {
  t: (key, vars) => (vars ? `${key} ${vars.n}` : key),
  format: { number: (value) => `~${value}` },
};

test("the worst comes first on a box, and all of it is said", () => {
  const coloured = { id: 1, symptom: "fault", counts: { fault: 1, lost: 3, zero: 2 } };
  const { badge, heat } = marksOf(app, coloured, "symptoms", true);
  assert.equal(badge.kind, "ill fault");
  assert.equal(badge.text, "⚠ NaN/Inf ×3");
  assert.equal(badge.label, "graph.symptom.fault 1, graph.symptom.lost_others 3, graph.symptom.zero 2");
  assert.equal(heat, null);
});

test("an operator has a sign and no count, and none when it is fine", () => {
  assert.equal(
    marksOf(app, { id: 1, symptom: "zero", counts: { zero: 1 } }, "symptoms", false).badge.text,
    "=0",
  );
  assert.equal(marksOf(app, { id: 1, symptom: "fine", counts: {} }, "symptoms", false).badge, null);
  assert.deepEqual(marksOf(app, undefined, "norm", false), {
    badge: null,
    heat: null,
    hatched: false,
  });
});

test("a statistic is a number and a shade; what is not finite comes as text", () => {
  const { badge, heat } = marksOf(app, { id: 1, value: 2.5, share: 0.4 }, "norm", true);
  assert.deepEqual([badge.text, badge.label, heat], ["~2.5", "dump.statistic.norm ~2.5", 0.4]);
  assert.equal(marksOf(app, { id: 1, value: "inf", share: 1 }, "norm", true).badge.text, "inf");
  assert.equal(marksOf(app, { id: 1, value: null, share: null }, "norm", true).badge, null);
});

test("what is not finite is loud in every colour", () => {
  const marks = marksOf(app, { id: 1, value: 2, share: 0.1, symptom: "fault" }, "norm", false);
  assert.deepEqual([marks.badge.kind, marks.badge.text, marks.hatched], ["ill fault", "⚠", true]);
  assert.equal(marksOf(app, { id: 1, value: 2, share: 1, symptom: "zero" }, "norm", false).hatched, false);
});

test("no anomaly is told only of what is in the graph", () => {
  assert.equal(healthText(12, 0), "fine");
  assert.equal(healthText(12, 3), "fine_here");
  assert.equal(healthText(0, 15), "unjudged");
});

const runs = [
  { id: "./a/summary/rank_0", job: "./a/summary", rank: 0, graph: true },
  { id: "./a/summary/rank_1", job: "./a/summary", rank: 1, graph: true },
  { id: "./a", job: "./a", rank: null },
  { id: "./b", job: "./b", rank: null, graph: true },
];
const dumps = [
  { id: "./b/dump", run: "./b" },
  { id: "./a/dump", run: "./a" },
  { id: "./a/summary/dump", run: "./a/summary/rank_1" },
];

test("dumps of the run come first, then those of its job, then those nearest by path", () => {
  const order = (id) =>
    nearestFirst(
      dumps,
      runs.find((run) => run.id === id),
      runs,
    ).map((dump) => dump.id);
  assert.deepEqual(order("./b"), ["./b/dump", "./a/dump", "./a/summary/dump"]);
  assert.deepEqual(order("./a/summary/rank_0"), ["./a/summary/dump", "./a/dump", "./b/dump"]);
});

test("a dump leads to its own run, to the same rank of its job, or to the only graph around", () => {
  const run = (dump, rank = 0) => runWithGraph(dump, rank, runs, (candidate) => candidate.graph)?.id;
  assert.equal(run(dumps[0]), "./b");
  assert.equal(run(dumps[2], 0), "./a/summary/rank_1");
  assert.equal(run(dumps[1], 0), "./a/summary/rank_0");
  assert.equal(run({ id: "./c/dump", run: "./c" }), undefined);
  const two = ["./d/x", "./d/y"].map((id) => ({ id, job: id, rank: null }));
  assert.equal(
    runWithGraph({ id: "./d/dump", run: "./d" }, 0, two, () => true),
    undefined,
  );
});
