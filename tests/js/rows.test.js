import assert from "node:assert/strict";
import { test } from "node:test";

import { stateOrder } from "../../web/mindinsight/web/static/js/components/runs/values.js";
import { fold, sorted } from "../../web/mindinsight/web/static/js/views/runs/rows.js";

const alone = (id, more) => ({ id, job: id, rank: null, pinned: false, ...more });
const rank = (job, n, more) => ({ id: `${job}/rank_${n}`, job, rank: n, pinned: false, ...more });
const labels = (rows) => rows.map((row) => ("run" in row ? row.run.id : `${row.job} (${row.runs.length})`));

test("ranks are folded under their job, where its first one stands", () => {
  const runs = [alone("./a"), rank("./j", 1), alone("./b"), rank("./j", 0)];
  assert.deepEqual(labels(fold(runs, new Set())), ["./a", "./j (2)", "./b"]);
});

test("an open job lists its ranks in order", () => {
  const runs = [rank("./j", 10), rank("./j", 2), rank("./j", 1)];
  assert.deepEqual(labels(fold(runs, new Set(["./j"]))), [
    "./j (3)",
    "./j/rank_1",
    "./j/rank_2",
    "./j/rank_10",
  ]);
});

test("a job of one rank is a job still", () => {
  assert.deepEqual(labels(fold([rank("./j", 0)], new Set())), ["./j (1)"]);
});

test("states sort in their order, and runs of a state by their last event", () => {
  const seen = (id, last_event, more) => alone(id, { last_event, events: true, finished: false, ...more });
  const runs = [
    seen("ended", 900, { finished: true }),
    seen("failed", 990, { finished: true, failure: "boom" }),
    seen("older", 950),
    seen("newer", 999),
    seen("empty", 0, { events: false }),
    seen("later end", 910, { finished: true }),
  ];
  const order = (down) => sorted(runs, (run) => stateOrder(run, 1000), down).map(({ id }) => id);
  assert.deepEqual(order(false), ["newer", "older", "failed", "later end", "ended", "empty"]);
  assert.deepEqual(order(true), order(false).reverse());
});

test("sorting goes both ways and keeps runs without a value last", () => {
  const runs = [alone("b", { v: 2 }), alone("n", { v: NaN }), alone("a", { v: 1 }), alone("u", {})];
  assert.deepEqual(
    sorted(runs, (run) => run.v, false).map((run) => run.id),
    ["a", "b", "n", "u"],
  );
  assert.deepEqual(
    sorted(runs, (run) => run.v, true).map((run) => run.id),
    ["b", "a", "n", "u"],
  );
});

test("numbers in names count as numbers", () => {
  const runs = [alone("run10"), alone("run9")];
  assert.deepEqual(
    sorted(runs, (run) => run.id, false).map((run) => run.id),
    ["run9", "run10"],
  );
});

test("the baseline stays on top", () => {
  const runs = [alone("a", { v: 1 }), alone("z", { v: 9, pinned: true })];
  assert.equal(sorted(runs, (run) => run.v, false)[0].id, "z");
  assert.equal(sorted(runs, undefined, false)[0].id, "z");
});
