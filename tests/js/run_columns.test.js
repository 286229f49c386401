import assert from "node:assert/strict";
import { test } from "node:test";

import { telling } from "../../web/mindinsight/web/static/js/core/run_traits.js";
import { defaultColumns, filled } from "../../web/mindinsight/web/static/js/components/runs/columns.js";
import {
  byCoverage,
  joinTags,
  plainName,
} from "../../web/mindinsight/web/static/js/components/runs/joined.js";
import { ColumnLayout } from "../../web/mindinsight/web/static/js/components/runs/column_layout.js";
import { moved, nextSort, withColumn } from "../../web/mindinsight/web/static/js/components/runs/order.js";
import {
  createValues,
  durationOf,
  startOf,
} from "../../web/mindinsight/web/static/js/components/runs/values.js";

globalThis.window = globalThis;

const TAGS = [
  { tag: "train/loss", count: 5 },
  { tag: "loss/auto", count: 4 },
  { tag: "val/loss", count: 2 },
  { tag: "acc", count: 9 },
  { tag: "old_loss", count: 1 },
];

test("what recorders write around a name is left out", () => {
  const names = ["loss", "train/loss", "loss/auto", "Loss", "val/loss", "train"].map(plainName);
  assert.deepEqual(names, ["loss", "loss", "loss", "loss", "val/loss", "train"]);
});

test("the loss of an evaluation comes first only where nearly all runs have it", () => {
  const first = (count) =>
    byCoverage(
      joinTags([
        { tag: "train/loss", count: 30 },
        { tag: "val/loss", count },
      ]),
    )[0].name;
  assert.equal(first(20), "train/loss");
  assert.equal(first(28), "val/loss");
});

test("a path has no column by itself, and a seed comes after the settings", () => {
  const runs = Array.from({ length: 14 }, (_, i) => ({
    kinds: {},
    hyper: { output_dir: `/out/r${i}`, seed: i, lr: i / 100, optimizer: i % 2 ? "adam" : "sgd" },
  }));
  const columns = defaultColumns([], ["output_dir", "seed", "lr", "optimizer"], runs);
  assert.deepEqual(columns.slice(0, 4), ["hyper:lr", "hyper:optimizer", "hyper:seed", "state"]);
});

test("columns are chosen by coverage of the rows, losses first, and tags of one meaning are one", () => {
  const names = byCoverage(joinTags(TAGS)).map(({ name }) => name);
  assert.deepEqual(names, ["~loss", "acc", "val/loss", "old_loss"]);
  const runs = [{ kinds: { scalar: 5 } }, { kinds: { scalar: 1 } }];
  assert.deepEqual(defaultColumns(names, ["lr"], runs), [
    "spark:~loss",
    "last:~loss",
    "best:~loss",
    "last:acc",
    "best:acc",
    "hyper:lr",
    "state",
    "step",
    "updated",
  ]);
  const losses = defaultColumns(["eval/loss", "train/loss", "eval/accuracy"], [], runs);
  assert.deepEqual(losses.slice(3, 5), ["last:eval/accuracy", "best:eval/accuracy"]);
  assert.deepEqual(defaultColumns(["a/loss", "b/loss", "c"], [], runs).slice(3, 5), [
    "last:b/loss",
    "best:b/loss",
  ]);
  assert.equal(defaultColumns(names, [], [...runs, { kinds: { image: 1 } }]).at(-1), "kinds");
});

test("a joined column has the value of whichever tag a run has", async () => {
  const get = async (path, { tag, run }) => {
    if (path === "v2/tags") return { tags: run ? TAGS.slice(2, 3) : TAGS };
    const [name] = tag;
    const numbers = { runs: [name === "train/loss" ? "./a" : "./b"], last: [1], min: [0.5], max: [2] };
    return { tables: { [name]: numbers } };
  };
  const values = createValues({ api: { get, column: (list) => list } }, { isConnected: true });
  await values.loadTags();
  assert.deepEqual(values.order.members("~loss"), ["train/loss", "loss/auto"]);
  assert.deepEqual(values.order.members("acc"), ["acc"]);
  await values.need(values.order.members("~loss"));
  const of = (id) => values.scalar({ id }, "~loss", "best");
  assert.deepEqual([of("./a"), of("./b"), of("./c")], [0.5, 0.5, undefined]);
  assert.equal(values.memberOf({ id: "./b" }, "~loss"), "loss/auto");
  await values.order.load(["./a"]);
  assert.deepEqual(values.order.names(), ["val/loss"]);
  await values.order.load(null);
  assert.equal(values.order.names()[0], "~loss");
});

test("the first click puts the best on top, the third takes the order back", () => {
  assert.deepEqual(
    ["", "loss", "-loss"].map((sort) => nextSort(sort, "loss", "ascending")),
    ["loss", "-loss", null],
  );
  assert.deepEqual(
    ["other", "-size", "size"].map((sort) => nextSort(sort, "size", "descending")),
    ["-size", "size", null],
  );
});

test("a column is put before another or last", () => {
  assert.deepEqual(moved(["a", "b", "c"], "c", "a"), ["c", "a", "b"]);
  assert.deepEqual(moved(["a", "b", "c"], "a", null), ["b", "c", "a"]);
  assert.deepEqual(moved(["a", "b"], "x", "a"), ["a", "b"]);
});

test("settings that vary are shown, of twins one", () => {
  const runs = [
    { hyper: { lr: 0.1, learning_rate: Math.fround(0.1), seed: 1, net: "a" } },
    { hyper: { lr: 0.2, learning_rate: Math.fround(0.2), seed: 2, net: "a" } },
    { hyper: { lr: 0.2, learning_rate: Math.fround(0.2) } },
  ];
  assert.deepEqual(telling(runs), ["lr", "seed"]);
});

test("columns have the widths and places of the address, those that stay come first", () => {
  const place = { style: { setProperty: () => undefined } };
  const all = (name) =>
    ({ width: ["100:name", "80:last:b", "9999:c", "x:a", "70:gone"], fixed: ["last:b", "a"] })[name];
  const layout = new ColumnLayout({ url: { all } }, place, {});
  const arranged = layout.arrange(["a", "last:b", "c"].map((key) => ({ key })));
  assert.deepEqual(
    arranged.map(({ key, width, left }) => [key, width, left]),
    [
      ["last:b", 80, 100],
      ["a", undefined, undefined], // a column without a width cannot stay
      ["c", 900, undefined],
    ],
  );
});

test("a new column stands beside the sorted one", () => {
  assert.deepEqual(withColumn(["a", "b"], "c", "a"), ["a", "c", "b"]);
  assert.deepEqual(withColumn(["a", "b"], "c", ""), ["a", "b", "c"]);
});

test("a column without a value in any run is not among those shown at first", () => {
  const loaded = new Set(["loss", "acc"]);
  const values = {
    known: (name) => loaded.has(name),
    memberOf: (run, name) => (run.has.includes(name) ? name : undefined),
  };
  const column = (key, value) => ({
    key,
    label: key,
    of: key.includes(":") ? key : undefined,
    value,
    cell: () => "",
  });
  const columns = [
    column("spark:loss"),
    column("last:loss", () => 1),
    column("best:acc", () => undefined),
    column("spark:acc"),
    column("last:later", () => undefined),
    column("step", (run) => run.step),
    column("group", () => ""),
  ];
  const keys = (runs) => filled(columns, runs, values).map(({ key }) => key);
  assert.deepEqual(
    keys([
      { has: ["loss"], step: undefined },
      { has: ["loss"], step: 0 },
    ]),
    ["spark:loss", "last:loss", "last:later", "step"],
  );
  assert.equal(keys([]).length, columns.length);
});

test("start and duration are unknown if the clock goes back, the duration if files are empty", () => {
  const run = { first_event: 100, last_event: 160, clock: [], total: 1 };
  assert.deepEqual([startOf(run), durationOf(run)], [100, 60]);
  const back = { ...run, clock: [{ key: "claim.run.clock_back" }] };
  assert.deepEqual([startOf(back), durationOf(back)], [undefined, undefined]);
  assert.deepEqual([startOf(run), durationOf({ ...run, total: 0 })], [100, undefined]);
});
