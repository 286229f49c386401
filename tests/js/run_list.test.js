import assert from "node:assert/strict";
import { test } from "node:test";

import { ownName } from "../../web/mindinsight/web/static/js/components/runs/changes.js";
import { distinct, withLeft } from "../../web/mindinsight/web/static/js/core/run_list.js";

const run = (directory, name = directory) => ({ id: `./${directory}`, directory, name });

test("runs with the same name are told apart by their directories", () => {
  const runs = distinct([run("a", "best"), run("b", "best"), run("c")]);
  assert.deepEqual(
    runs.map(({ name }) => name),
    ["best · a", "best · b", "c"],
  );
  assert.deepEqual(runs.map(ownName), ["best", "best", ""]);
  const again = distinct([runs[0], run("b"), run("c")]); // after the second was renamed
  assert.deepEqual(
    again.map(({ name }) => name),
    ["best", "b", "c"],
  );
});

test("a directory that another run is named after needs no second one", () => {
  const runs = distinct([run("a"), run("b", "a")]);
  assert.deepEqual(
    runs.map(({ name }) => name),
    ["a", "a · b"],
  );
});

test("a rank without an end is left if its job was finished long after it", () => {
  const rank = (id, last_event, finished = true) => ({
    ...{ id, job: "./j", rank: 0, first_event: 0, last_event, finished },
  });
  const left = (...runs) => withLeft(runs).map((entry) => Boolean(entry.left));
  assert.deepEqual(left(rank("a", 64, false), rank("b", 100)), [true, false]);
  assert.deepEqual(left(rank("a", 91, false), rank("b", 100)), [false, false]); // 9 s of 100 s
  assert.deepEqual(left(rank("a", 64, false), rank("b", 100, false)), [false, false]);
  assert.deepEqual(left(rank("a", 9_870, false), rank("b", 10_000)), [true, false]); // two minutes are enough
  assert.deepEqual(left(rank("a", 64, false)), [false]);
  assert.deepEqual(left({ ...rank("a", 64, false), job: "./k" }, rank("b", 100)), [false, false]);
  const same = rank("b", 100);
  assert.equal(withLeft([rank("a", 64, false), same])[1], same); // its row is not drawn anew
});
