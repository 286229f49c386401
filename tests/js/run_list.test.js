import assert from "node:assert/strict";
import { test } from "node:test";

import { ownName } from "../../web/mindinsight/web/static/js/components/runs/changes.js";
import { distinct } from "../../web/mindinsight/web/static/js/core/run_list.js";

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
