import assert from "node:assert/strict";
import { test } from "node:test";

import { undoOf } from "../../web/mindinsight/web/static/js/components/runs/changes.js";

const run = (fields) => [{ run: "./a", ...fields }];

test("undo takes back the labels of its change alone", () => {
  const first = [run({ labels: ["old"] }), run({ labels: ["old", "first"] })];
  const later = run({ labels: ["old", "first", "second"] });
  assert.deepEqual(undoOf(...first, later), { changes: run({ labels: ["old", "second"] }), newer: 0 });
  const removed = [run({ labels: ["old", "gone"] }), run({ labels: ["old"] })];
  const others = run({ labels: ["old", "colleague"] });
  assert.deepEqual(undoOf(...removed, others).changes, run({ labels: ["old", "colleague", "gone"] }));
});

test("undo leaves what was changed again, and says of how many runs", () => {
  const change = [run({ group: "", hidden: false }), run({ group: "ours", hidden: true })];
  assert.deepEqual(undoOf(...change, change[1]), { changes: change[0], newer: 0 });
  const newer = run({ group: "theirs", hidden: true });
  assert.deepEqual(undoOf(...change, newer), { changes: run({ hidden: false }), newer: 1 });
  assert.deepEqual(undoOf(run({ group: "" }), run({ group: "a" }), run({ group: "b" })), {
    changes: [],
    newer: 1,
  });
  assert.deepEqual(undoOf(...change, []), { changes: [], newer: 0 });
});
