import assert from "node:assert/strict";
import { test } from "node:test";

import {
  cellsOf,
  groupsByRun,
  missingBefore,
  missingRanks,
  rankText,
  outliersByRank,
  unknownRuns,
} from "../../web/mindinsight/web/static/js/components/health_strip.js";

const stray = (row, kind, step = 1) => ({ row, kind, step, tag: "loss" });
const health = (count, strays) => ({ runs: Array(count).fill("./r"), ranks: [], tags: ["loss"], strays });

test("the worst of a rank comes first", () => {
  const rows = outliersByRank(
    health(2, [stray(1, "spikes"), stray(1, "not_finite", 9), stray(1, "lasting")]),
  );
  assert.deepEqual(
    rows.map((row) => row.map(({ kind }) => kind)),
    [[], ["not_finite", "lasting", "spikes"]],
  );
});

test("ranks without data leave a gap", () => {
  const ranks = [1, 2, 5];
  assert.deepEqual(
    ranks.map((_, row) => missingBefore(ranks, row, 8)),
    [1, 0, 2],
  );
  assert.equal(missingBefore([0, 900], 1, 64), 0);
  assert.equal(missingBefore([null, 2], 1, 64), 0);
});

test("missing ranks are named where the server says that some are missing", () => {
  const ranks = [0, 1, 4, 6];
  const said = (key) => missingRanks({ ranks, claims: [{ key }] }, 8);
  assert.deepEqual(said("claim.health.missing_ranks"), [2, 3, 5]);
  assert.deepEqual(said("claim.health.some_of_each"), []);
});

test("each rank has its group in each scalar that splits them", () => {
  const evidence = [
    { run: "./a", tag: "time", group: "low" },
    { run: "./b", tag: "time", group: "high" },
  ];
  const claims = [
    { key: "claim.health.groups", evidence },
    { key: "claim.health.spread", evidence: [{ run: "./a", tag: "loss" }] },
  ];
  const groups = groupsByRun({ claims });
  assert.deepEqual(groups.get("./b"), [{ tag: "time", group: "high" }]);
  assert.deepEqual([...groups.keys()], ["./a", "./b"]);
});

test("of two ranks that differ from each other neither is named alone", () => {
  const pair = {
    ...stray(0, "lasting", 152),
    other: 1,
    claim: { key: "claim.rank.pair", values: { step: 152 }, missing: [] },
  };
  const t = (key, values) => `${key} ${values?.step ?? ""}`;
  const app = { t, format: { number: String }, boot: { lang: "en" } };
  assert.deepEqual(outliersByRank(health(2, [pair])), [[pair], [pair]]);
  assert.equal(rankText(app, health(2, [pair]), pair), "loss: claim.rank.pair 152");
});

test("of many ranks several share a cell, which shows the worst of them", () => {
  const cells = cellsOf(health(1000, [stray(16, "spikes"), stray(17, "not_finite"), stray(999, "lasting")]));
  assert.equal(cells.length, 63);
  assert.deepEqual(
    cells.flatMap((cell, i) => (cell ? [[i, cell.kind]] : [])),
    [
      [1, "not_finite"],
      [62, "lasting"],
    ],
  );
  assert.equal(cellsOf(health(4, [])).length, 4);
});

test("a rank that was not compared is not known to be well", () => {
  const claims = [
    { verdict: "found", evidence: [{ run: "./a" }] },
    { verdict: "unknown", evidence: [{ run: "./b" }, { run: "./c" }] },
    { verdict: "unknown", evidence: [] },
  ];
  assert.deepEqual([...unknownRuns({ claims })], ["./b", "./c"]);
});
