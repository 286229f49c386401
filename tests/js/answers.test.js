import assert from "node:assert/strict";
import { test } from "node:test";

import { splitBy, splitRuns } from "../../web/mindinsight/web/static/js/components/runs/split.js";

const runs = ["a", "b", "c", "d", "e", "f"].map((id) => ({ id }));
const value = ({ id }) => "abcdef".indexOf(id);
const of = (groups, group) => [...groups].filter(([, name]) => name === group).map(([id]) => id);

test("equal values make runs neither good nor bad, unless others differ from them", () => {
  assert.equal(
    splitRuns(
      runs,
      () => 1,
      "min",
      () => false,
    ).size,
    0,
  );
  const tied = splitRuns(
    runs,
    ({ id }) => (id === "a" ? 0 : 1),
    "min",
    () => false,
  );
  assert.deepEqual([of(tied, "good"), of(tied, "bad")], [["a"], ["e", "f"]]);
  const worst = splitRuns(
    runs,
    ({ id }) => (id === "f" ? 1 : 0),
    "min",
    () => false,
  );
  assert.deepEqual([of(worst, "good"), of(worst, "bad")], [["a", "b"], ["f"]]);
  const broken = splitRuns(
    runs,
    () => 1,
    "min",
    ({ id }) => id === "c",
  );
  assert.deepEqual([of(broken, "good"), of(broken, "bad")], [["a", "b"], ["c"]]);
});

test("the best third is good and the worst third is bad, whichever end is the best", () => {
  const lower = splitRuns(runs, value, "min", () => false);
  assert.deepEqual(
    [of(lower, "good"), of(lower, "bad")],
    [
      ["a", "b"],
      ["e", "f"],
    ],
  );
  const higher = splitRuns(runs, value, "max", () => false);
  assert.deepEqual(
    [of(higher, "good"), of(higher, "bad")],
    [
      ["f", "e"],
      ["b", "a"],
    ],
  );
});

test("of hundreds of runs no more are asked about than a request can name", () => {
  const many = Array.from({ length: 900 }, (_, n) => ({ id: `./${n}` }));
  const groups = splitRuns(
    many,
    ({ id }) => Number(id.slice(2)),
    "min",
    ({ id }) => Number(id.slice(2)) > 500,
  );
  assert.deepEqual([of(groups, "good").length, of(groups, "bad").length], [200, 200]);
});

test("what is broken is bad, and never good", () => {
  const groups = splitRuns(runs, value, "min", ({ id }) => id === "a");
  assert.deepEqual(
    [of(groups, "good"), of(groups, "bad")],
    [
      ["b", "c"],
      ["a", "f"],
    ],
  );
  const pair = splitRuns(runs.slice(0, 2), value, "min", () => false);
  assert.deepEqual([of(pair, "good"), of(pair, "bad")], [["a"], ["b"]]);
});

/** A page's application whose server answers with these columns of one tag. */
function appOf(columns) {
  const table = { runs: runs.map(({ id }) => id), ...columns };
  const api = { get: async () => ({ tables: { loss: table, acc: table } }), column: (values) => values };
  return { api, selection: { list: () => ({ now: 0 }) } };
}

test("a run that lost what it had gained is bad, however good its best value was", async () => {
  const first = [9, 9, 9, 9, 9, 9];
  const diverged = appOf({ first, last: [12, 1, 2, 3, 4, 5], min: [0, 1, 2, 3, 4, 5] });
  const { groups } = await splitBy(diverged, runs, "loss");
  assert.deepEqual(
    [of(groups, "good"), of(groups, "bad")],
    [
      ["b", "c"],
      ["a", "f"],
    ],
  );
  const overfitted = appOf({ first, last: [8, 1, 2, 3, 4, 5], min: [0, 1, 2, 3, 4, 5] });
  assert.deepEqual(of((await splitBy(overfitted, runs, "loss")).groups, "good"), ["a", "b"]);
  const flat = appOf({ first, last: [9, 9.4, 9.5, 9.6, 9.7, 9.8], min: [5, 6, 7, 8, 8.5, 8.7] });
  assert.deepEqual(of((await splitBy(flat, runs, "loss")).groups, "good"), ["a", "b"]);
});

test("of a scalar that is best at its highest a run that fell back is bad", async () => {
  const fell = appOf({
    first: [0.1, 0.1, 0.1, 0.1, 0.1, 0.1],
    last: [0.1, 0.8, 0.7, 0.6, 0.5, 0.4],
    max: [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
  });
  const { groups } = await splitBy(fell, runs, "acc");
  assert.deepEqual(
    [of(groups, "good"), of(groups, "bad")],
    [
      ["b", "c"],
      ["a", "f"],
    ],
  );
});
