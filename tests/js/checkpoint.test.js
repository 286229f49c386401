import assert from "node:assert/strict";
import { test } from "node:test";

import { lossAt, runOf } from "../../web/mindinsight/web/static/js/views/checkpoint/origin.js";
import {
  csv,
  isFrozen,
  LARGEST,
  shownRows,
} from "../../web/mindinsight/web/static/js/views/checkpoint/rows.js";
import { settle } from "../../web/mindinsight/web/static/js/views/checkpoint/state.js";
import {
  cellClass,
  changeScale,
  share,
} from "../../web/mindinsight/web/static/js/views/checkpoint/timeline.js";

/** @param {string} name @param {string[]} states @param {number[]} lost */
const row = (name, states, lost) => ({
  name,
  shape: [2],
  states,
  changes: states.map(() => 0),
  non_finite: lost,
});
const ROWS = [
  row("a.weight", ["start", "changed"], [0, 0]),
  row("b.weight", ["start", "unchanged"], [0, 0]),
  row("c.bias", ["start", "changed"], [0, 3]),
];
/** @type {import("../../web/mindinsight/web/static/js/views/checkpoint/state.js").State} */
const STATE = {
  mode: "timeline",
  series: "",
  file: "",
  second: "",
  q: "",
  unchanged: false,
  only: "",
  lost: false,
  sort: "",
  descending: false,
  tensor: "",
  at: "",
};

test("what is not finite is on top, and filters keep what they name", () => {
  const names = (/** @type {any} */ changes) =>
    shownRows(ROWS, { ...STATE, ...changes }).map(({ name }) => name);
  assert.deepEqual(names({}), ["c.bias", "a.weight", "b.weight"]);
  assert.deepEqual(names({ unchanged: true }), ["b.weight"]);
  assert.deepEqual(names({ lost: true }), ["c.bias"]);
  assert.deepEqual(names({ q: "WEIGHT a" }), ["a.weight"]);
  assert.deepEqual(names({ sort: "name", descending: true }), ["c.bias", "b.weight", "a.weight"]);
});

test("numbers sort with infinities and rows without a value last, either way", () => {
  const rows = [3, "inf", null, -1].map((norm, i) => ({ name: String(i), statistics: { norm } }));
  const order = (/** @type {boolean} */ descending) =>
    shownRows(rows, { ...STATE, mode: "tensors", sort: "norm", descending }).map(({ name }) => name);
  assert.deepEqual(order(false), ["3", "0", "1", "2"]);
  assert.deepEqual(order(true), ["1", "0", "3", "2"]);
});

test("a cell is loud about NaN first, then about standing still", () => {
  assert.equal(cellClass(row("x", ["unchanged"], [1]), 0), "lost");
  assert.equal(cellClass(row("x", ["unchanged"], [2]), 0), "lost all");
  assert.equal(cellClass(ROWS[1], 1), "frozen");
  assert.equal(cellClass(row("x", ["shape"], [0]), 0), "odd");
  assert.equal(isFrozen(row("x", ["absent", "start"], [0, 0])), false);
});

test("colours go from the median change to the largest, without states of optimizers", () => {
  const changed = (/** @type {string} */ name, /** @type {number[]} */ changes, weight = true) => ({
    ...row(name, ["start", ...changes.map(() => "changed")], []),
    changes: [null, ...changes],
    weight,
  });
  const rows = [
    changed("a", [0.01, 0.01]),
    changed("b", [0.01, 1]),
    changed("c", [0.01, 0.1]),
    changed("moment", [50, 60], false),
  ];
  const scale = changeScale(rows);
  assert.deepEqual(scale, [0.01, 1]);
  const near = (/** @type {any} */ change) => Number(share(change, scale).toFixed(9));
  assert.deepEqual([1e-6, 0.01, 0.1, 1, "inf", null].map(near), [0, 0, 0.5, 1, 1, 1]);
  assert.equal(share(0.3, changeScale([changed("a", [0.3])])), 0.5);
  assert.equal(changeScale([ROWS[1]]), null);
  const places = (/** @type {number[]} */ changes) => {
    const own = changeScale([changed("a", changes)]);
    return new Set(changes.map((change) => share(change, own)));
  };
  assert.deepEqual([...places([0.1, 0.1 + 1e-8, 0.1 - 1e-8])], [0.5]); // noise
  assert.deepEqual([...places([0.105 - 1e-9, 0.105 + 1e-9])], [0.5]); // noise around where digits change
  assert.deepEqual([...places([0.099, 0.1003])], [0, 1]); // near miss: other digits
  assert.deepEqual([...places([0.101, 0.103, 0.104])], [0.5]); // the same digits
  const steady = changeScale([changed("a", [0.1, 0.1])]);
  assert.deepEqual(
    [0.1, 5, "inf"].map((change) => share(change, steady)),
    [0.5, 1, 1],
  );
  const order = shownRows(rows, { ...STATE, sort: LARGEST, descending: true }).map(({ name }) => name);
  assert.deepEqual(order, ["b", "c", "a", "moment"]);
});

test("a checkpoint belongs to the run around it, or to the only job beside it", () => {
  const run = (/** @type {string} */ id, job = id, rank = null) => ({ id, job, rank });
  const ranks = [1, 0].map((rank) => run(`./b/summary/rank_${rank}`, "./b/summary", rank));
  const runs = [run("./a/summary"), run("./a/other"), ...ranks, run("./c/run")];
  assert.equal(runOf(runs, "./b/ckpt/net-1.ckpt")?.id, "./b/summary/rank_0");
  assert.equal(runOf(runs, "./c/run/ckpt/net-1.ckpt")?.id, "./c/run");
  assert.equal(runOf(runs, "./a/ckpt/net-1.ckpt"), null); // of two jobs there
  assert.equal(runOf(runs, "./a/summary/net-1.ckpt")?.id, "./a/summary");
  assert.equal(runOf(runs, "./other/net-1.ckpt"), null);
  assert.equal(runOf(runs, "./net-1.ckpt"), null);
});

test("a loss belongs to a checkpoint of its step, or one soon after", () => {
  const loss = { step: [10, 20, 30, 40, 500, 510], value: [6, 5, 4, 3, 2, 1] };
  const at = (/** @type {number} */ step) => lossAt(loss, step);
  assert.deepEqual([20, 510].map(at), [
    { step: 20, value: 5 },
    { step: 510, value: 1 },
  ]);
  assert.deepEqual([19, 515].map(at), [
    { step: 10, value: 6 },
    { step: 510, value: 1 },
  ]);
  assert.deepEqual([5, 300, 521].map(at), [null, null, null]); // before, in a hole, after
  const single = { step: [10], value: [3] };
  assert.deepEqual(
    [10, 11].map((step) => lossAt(single, step)?.value),
    [3, undefined],
  );
});

test("the page opens on the longest series, on a file where there is none", () => {
  const files = ["./n-1.ckpt", "./n-2.ckpt", "./x.npz"].map((id) => ({ id }));
  const series = [
    { key: "./x.npz", checkpoints: [files[2]] },
    { key: "./n-#.ckpt", checkpoints: files.slice(0, 2) },
  ];
  const opened = { ...STATE, mode: /** @type {any} */ ("") };
  settle(opened, { checkpoints: files, series });
  assert.deepEqual([opened.mode, opened.series], ["timeline", "./n-#.ckpt"]);
  const named = { ...STATE, mode: /** @type {any} */ (""), file: "./x.npz" };
  settle(named, { checkpoints: files, series });
  assert.deepEqual([named.mode, named.file], ["tensors", "./x.npz"]);
  const alone = { ...STATE };
  settle(alone, { checkpoints: files.slice(2), series: series.slice(0, 1) });
  assert.deepEqual([alone.mode, alone.file], ["tensors", "./x.npz"]);
});

test("the file follows the series of a timeline, and the series the file", () => {
  const group = (/** @type {string} */ run, /** @type {number} */ count) => ({
    key: `./${run}/n-#.pt`,
    checkpoints: Array.from({ length: count }, (_, i) => ({ id: `./${run}/n-${i}.pt` })),
  });
  const series = [group("long", 3), group("short", 2)];
  const listed = { checkpoints: series.flatMap(({ checkpoints }) => checkpoints), series };
  const state = { ...STATE, series: "./short/n-#.pt", file: "./long/n-0.pt", second: "./long/n-1.pt" };
  settle(state, listed);
  assert.deepEqual([state.series, state.file, state.second], ["./short/n-#.pt", "./short/n-0.pt", ""]);
  settle(Object.assign(state, { mode: "compare" }), listed);
  assert.deepEqual([state.file, state.second], ["./short/n-0.pt", "./short/n-1.pt"]);
  const shown = { ...STATE, mode: /** @type {"tensors"} */ ("tensors"), file: "./short/n-1.pt" };
  settle(shown, listed);
  assert.deepEqual([shown.series, shown.file], ["./short/n-#.pt", "./short/n-1.pt"]);
});

test("a comparison puts first what is not finite, on one side before both, then the largest change", () => {
  const compared = [
    { name: "equal", state: "unchanged", non_finite_elements: 0 },
    { name: "both", state: "unchanged", non_finite_elements: 2 },
    { name: "near", state: "changed", measures: { relative_distance: 0.01, apart: 0 } },
    { name: "far", state: "changed", measures: { relative_distance: 0.1, apart: 0 } },
    { name: "other shape", state: "shape", measures: null },
    { name: "back", state: "changed", non_finite_elements: 1, measures: { lost: 0, apart: 1 } },
  ];
  const names = (/** @type {boolean} */ lost) =>
    shownRows(compared, { ...STATE, mode: "compare", lost }).map(({ name }) => name);
  assert.deepEqual(names(false), ["back", "both", "other shape", "far", "near", "equal"]);
  assert.deepEqual(names(true), ["back", "both"]);
});

test("a comparison shows one state alone, which no other mode knows", () => {
  const rows = [{ state: "shape" }, { state: "first" }, { state: "changed" }].map((entry) => ({
    ...entry,
    name: entry.state,
  }));
  const names = (/** @type {any} */ mode, /** @type {string} */ only) =>
    shownRows(rows, { ...STATE, mode, only }).map(({ name }) => name);
  assert.deepEqual(names("compare", "shape"), ["shape"]);
  assert.deepEqual(names("compare", "second"), []);
  assert.equal(names("compare", "").length, 3);
  assert.equal(names("timeline", "shape").length, 3);
});

test("CSV quotes and runs no formula", () => {
  assert.equal(
    csv([
      ['a"b', "x,y", null, -1.5],
      ["=cmd", "-3", "+x", 0],
      ["-x", "@SUM(A1)", "\t=1", "\n=1"],
      ["'=x", "it's", "-1e-7", 1],
    ]),
    "\"a\"\"b\",\"x,y\",,-1.5\r\n'=cmd,-3,'+x,0\r\n'-x,'@SUM(A1),'\t=1,\"'\n=1\"\r\n''=x,it's,-1e-7,1\r\n",
  );
});
