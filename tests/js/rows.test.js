import assert from "node:assert/strict";
import { test } from "node:test";

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
