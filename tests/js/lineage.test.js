import assert from "node:assert/strict";
import { comparedColumns } from "../../web/mindinsight/web/static/js/views/lineage/difference.js";
import { test } from "node:test";

import {
  axisPosition,
  isBrushed,
  shortTexts,
} from "../../web/mindinsight/web/static/js/views/lineage/axes.js";
import { readBrushes, writeBrushes } from "../../web/mindinsight/web/static/js/views/lineage/brushes.js";
import {
  axesShown,
  axisType,
  columnNumbers,
  labelOf,
  logAxes,
  moved,
  objectiveAmong,
  sortedBy,
  tableColumns,
  topFactor,
} from "../../web/mindinsight/web/static/js/views/lineage/columns.js";
import { between } from "../../web/mindinsight/web/static/js/core/colours.js";
import {
  matrixColumns,
  matrixFigure,
} from "../../web/mindinsight/web/static/js/views/lineage/scatter_matrix.js";
import { tint } from "../../web/mindinsight/web/static/js/components/objective_colour.js";

const column = (key, numeric = true) => ({ key, numeric, label: key });
const rows = [
  { run: "a", values: { lr: 0.1, opt: "sgd", loss: 1, same: 1 } },
  { run: "b", values: { lr: 0.01, opt: "adam", loss: 3, same: 1 } },
  { run: "c", values: { lr: 0.001, opt: "adam", same: 1 } },
];
const columns = [column("lr"), column("opt", false), column("same"), column("loss")];

function plot(more = {}) {
  return { columns, rows, logs: new Set(), brushes: new Map(), ...more };
}

test("axes are what varies, the objective last, unless somebody chose", () => {
  const keys = (state) =>
    axesShown({ columns, rows }, { axes: [], objective: "", ...state }).map((shownColumn) => shownColumn.key);
  assert.deepEqual(keys({ objective: "loss" }), ["lr", "opt", "loss"]);
  assert.deepEqual(keys({ axes: ["same", "gone", "lr"] }), ["same", "lr"]);
  assert.deepEqual(keys({ axes: ["gone"], objective: "lr" }), ["opt", "loss", "lr"]);
});

test("what is the same wherever it was recorded is no axis of its own", () => {
  const varied = [
    { run: "a", values: { seed: 1, lr: 1 } },
    { run: "b", values: { seed: 1, lr: 2 } },
    { run: "c", values: { lr: null } },
  ];
  const visible = axesShown(
    { columns: [column("seed"), column("lr")], rows: varied },
    { axes: [], objective: "" },
  );
  assert.deepEqual(
    visible.map((shownColumn) => shownColumn.key),
    ["lr"],
  );
});

test("a seed and a path of each run are axes only if nothing else varies", () => {
  const runs = ["a", "b", "c"].map((run, i) => ({ run, values: { seed: i, out_dir: `/o/${i}`, lr: i % 2 } }));
  const known = [column("seed"), column("out_dir", false), column("lr")];
  const shown = (columnsKnown, axes = []) =>
    axesShown({ columns: columnsKnown, rows: runs }, { axes, objective: "" }).map(({ key }) => key);
  assert.deepEqual(shown(known), ["lr"]);
  assert.deepEqual(shown(known, ["seed", "lr"]), ["seed", "lr"], "somebody chose it");
  assert.deepEqual(shown(known.slice(0, 2)), ["seed", "out_dir"]);
});

test("an axis moves, and stops at both ends", () => {
  assert.deepEqual(moved(["a", "b", "c"], "a", 1), ["b", "a", "c"]);
  assert.deepEqual(moved(["a", "b", "c"], "a", 9), ["b", "c", "a"]);
  assert.deepEqual(moved(["a", "b", "c"], "c", -9), ["c", "a", "b"]);
  assert.deepEqual(moved(["a", "b", "c"], "b", 0), ["a", "b", "c"]);
});

test("the objective is the one asked for, else the first metric that most runs have", () => {
  const mixed = [column("train:lr"), column("user:note", false), column("metric:acc"), column("metric:loss")];
  const run = (...keys) => ({ run: "a", values: Object.fromEntries(keys.map((key) => [key, 1])) });
  const both = run("metric:acc", "metric:loss");
  const table = { columns: mixed, rows: [both, both, run("metric:loss")] };
  assert.equal(objectiveAmong(table, "train:lr"), "train:lr");
  assert.equal(objectiveAmong(table, "user:note"), "metric:acc");
  const rare = { columns: mixed, rows: [both, run("metric:loss"), run()] };
  assert.equal(objectiveAmong(rare, ""), "metric:loss");
  assert.equal(objectiveAmong({ columns: mixed, rows: [both, run(), run()] }, ""), "metric:acc");
  assert.equal(objectiveAmong({ columns: [column("train:lr")], rows: [] }, ""), null);
});

test("without a metric the objective is a scalar that is a result by its name", () => {
  const among = (scalars, requested = "") =>
    objectiveAmong({ columns: [column("train:lr")], rows: [], scalars }, requested);
  assert.equal(among(["train/loss", "step_time", "train/acc", "val/loss"]), "scalar:val/loss");
  assert.equal(among(["train/loss", "val/loss", "val/accuracy"]), "scalar:val/loss"); // as Runs and Why
  assert.equal(among(["train/loss", "val/accuracy"]), "scalar:val/accuracy");
  assert.equal(among(["train/loss"]), "scalar:train/loss");
  assert.equal(among(["grad_norm", "lr"]), null);
  assert.equal(among(["val/loss", "grad_norm"], "scalar:grad_norm"), "scalar:grad_norm");
  assert.equal(among(["val/loss"], "scalar:gone"), "scalar:val/loss");
});

test("known columns have words, a user's own keep their names", () => {
  const t = (key) => `«${key}»`;
  assert.equal(labelOf(t, "train:learning_rate"), "«lineage.column.learning_rate»");
  assert.equal(labelOf(t, "user:a:b"), "a:b");
});

test("rows sort by size or name, those without a value last either way", () => {
  const order = (key, down) =>
    sortedBy(rows, key, down)
      .map((row) => row.run)
      .join("");
  assert.deepEqual([order("loss", false), order("loss", true)], ["abc", "bac"]);
  assert.deepEqual([order("opt", false), order("opt", true)], ["bca", "abc"]);
});

test("NaN comes last in either direction, and an infinity beyond all numbers", () => {
  const losses = [0.5, "nan", "inf", 2, null, "-inf"].map((loss, run) => ({
    run: String(run),
    values: { loss },
  }));
  const order = (down) => sortedBy(losses, "loss", down).map(({ run }) => run);
  assert.deepEqual(order(false), ["5", "0", "3", "2", "1", "4"]);
  assert.deepEqual(order(true), ["2", "3", "0", "5", "1", "4"]);
});

test("numbers lie by size, on a logarithmic axis by their powers", () => {
  const scale = axisPosition(plot(), column("lr"));
  assert.ok(Math.abs(scale.of(0.01) - 0.0909) < 1e-3);
  const powers = axisPosition(plot({ logs: new Set(["lr"]) }), column("lr"));
  assert.ok(Math.abs(powers.of(0.01) - 0.5) < 1e-9);
  assert.ok(Number.isNaN(scale.of(undefined)));
});

test("a value that is not finite has no place on an axis, also where all others are equal", () => {
  const values = [0.5, "nan", Infinity, 0.5].map((loss, i) => ({ run: String(i), values: { loss } }));
  const { of } = axisPosition(plot({ rows: values }), column("loss"));
  assert.equal(of(0.5), 0.5);
  for (const value of ["nan", NaN, Infinity, -Infinity]) assert.ok(Number.isNaN(of(value)), String(value));
});

test("names lie evenly, each once", () => {
  const { ticks, of } = axisPosition(plot(), column("opt", false));
  assert.deepEqual(ticks, [
    { at: 0, text: "adam" },
    { at: 1, text: "sgd" },
  ]);
  assert.equal(of("sgd"), 1);
});

test("a brush keeps what lies inside it, and nothing without a value", () => {
  const inside = (brush) =>
    rows
      .filter((row) => isBrushed(plot({ brushes: new Map([["loss", brush]]) }), row))
      .map((row) => row.run)
      .join("");
  assert.equal(inside({ low: 0, high: 1 }), "ab");
  assert.equal(inside({ low: 0.5, high: 1 }), "b");
});

test("brushes survive the address, also with odd names", () => {
  const texts = ["user:dropout~0.25~1", "a~b~0~0.5"];
  assert.deepEqual(writeBrushes(readBrushes(texts)), texts);
  assert.equal(readBrushes(["x~1~0", "x", "x~0.1"]).size, 0);
});

const app = {
  theme: { dark: () => false, colour: (name) => ({ "--panel": "#ffffff", "--muted": "muted" })[name] },
};

test("a line has the colour of its objective, and none without one", () => {
  const colour = tint(app, rows, "loss");
  assert.notEqual(colour(rows[0]), colour(rows[1]));
  assert.equal(colour(rows[2]), "muted");
});

test("a colour between two is mixed by its place", () => {
  const stops = [
    [0, "#000000"],
    [0.5, "#ff0000"],
    [1, "#ffffff"],
  ];
  assert.deepEqual(
    [0, 0.25, 0.5, 1].map((at) => between(stops, at)),
    ["#000000", "#800000", "#ff0000", "#ffffff"],
  );
});

test("few values have a tick each, but none on another", () => {
  const values = [1, 2, 2.01, 3, 3];
  const some = { rows: values.map((lr, i) => ({ run: String(i), values: { lr } })), logs: new Set() };
  const marks = axisPosition(some, column("lr")).ticks.map(({ text }) => text);
  assert.deepEqual(marks, [1, 2, 3]);
});

test("a scatter plot begins with the number that matters most, and no seed", () => {
  const settings = [column("user:opt", false), column("user:seed"), column("user:lr"), column("metric:loss")];
  const importance = [{ key: "user:opt" }, { key: "user:lr" }];
  assert.equal(topFactor({ columns: settings, rows: [], importance }, ""), "user:lr");
  assert.equal(topFactor({ columns: settings, rows: [], importance: [] }, ""), "");
  const few = [1, 2].map((lr) => ({
    run: `${lr}`,
    values: { "user:b": 64, "user:lr": lr, "metric:loss": lr },
  }));
  const known = [column("user:b"), column("user:lr"), column("metric:loss")];
  assert.equal(topFactor({ columns: known, rows: few, importance: [] }, "metric:loss"), "user:lr");
  assert.equal(tableColumns(settings, "metric:loss")[0].key, "metric:loss");
});

test("a scatter matrix has a cell for each pair of what matters and the objective", () => {
  const importance = [{ key: "same" }, { key: "opt" }, { key: "lr" }];
  const chosen = matrixColumns(columns, importance, "loss");
  assert.deepEqual(
    chosen.map(({ key }) => key),
    ["same", "lr", "loss"],
  );
  const seed = { ...columns[0], key: "hyper:seed", numeric: true };
  const seeded = matrixColumns([seed, ...columns], [{ key: "hyper:seed" }, ...importance], "loss");
  assert.deepEqual(seeded, chosen, "a seed is no setting to learn from");
  const page = { selection: { run: () => undefined }, theme: { plotly: () => ({}), axis: (axis) => axis } };
  const { data, layout } = matrixFigure(page, chosen, rows, new Set(["lr"]), {});
  assert.equal(data.length, 6);
  assert.deepEqual(data[0].x, [0.1, 0.01, 0.001]);
  assert.deepEqual([data[0].xaxis, data[0].yaxis], ["x2", "y"]);
  assert.ok(layout.yaxis.domain[0] > layout.yaxis2.domain[1]);
  assert.deepEqual([layout.xaxis.type, layout.xaxis2.type], ["linear", "log"]);
  assert.equal(axisType([0, 1000]), "linear");
  assert.equal(axisType([null, "nan"]), "linear");
});

test("an axis is logarithmic where values are spread over decades, not where the smallest is small", () => {
  const uniform = [0.004, 0.02, 0.07, 0.12, 0.16, 0.21, 0.26, 0.31, 0.37, 0.41, 0.46, 0.5];
  assert.equal(axisType(uniform, "dropout"), "linear");
  assert.equal(axisType([1e-4, 3e-4, 1e-3, 4e-3, 1e-2, 3e-2], "decay"), "log");
  assert.equal(axisType([16, 32, 64, 128, 256, 512, 1024, 2048], "width"), "log");
  assert.equal(axisType([1, 1000], "warmup"), "log");
  assert.equal(axisType([0.001, 0.5, 0.9, 1], "user:lr"), "log", "rates are tried by factors");
});

test("a column that no row has is not the same in all of them", () => {
  const keys = ["lr", "seed", "acc"].map((key) => ({ key }));
  const compared = (/** @type {Record<string, any>[]} */ ...all) => {
    const { differ, claims } = comparedColumns(
      keys,
      all.map((values) => ({ values })),
    );
    return [differ.map(({ key }) => key), claims.map(({ key, values }) => [key, values.n])];
  };
  assert.deepEqual(compared({ lr: 1, seed: 1 }, { lr: 1, seed: 2 }), [
    ["seed"],
    [["claim.lineage.same_columns", 1]],
  ]);
  assert.deepEqual(compared({ lr: 1 }, { lr: 2 }), [["lr"], []]);
  assert.deepEqual(compared({}, {}), [[], [["claim.lineage.no_columns", undefined]]]);
});

test("learning rates and settings over two decades have logarithmic axes by default", () => {
  const settings = ["hyper:lr", "hyper:width", "hyper:momentum", "hyper:seed"].map((key) => ({
    key,
    numeric: true,
    label: key,
  }));
  const trials = [
    { run: "a", values: { "hyper:lr": 0.001, "hyper:width": 8, "hyper:momentum": 0.1, "hyper:seed": 1 } },
    {
      run: "b",
      values: { "hyper:lr": 0.01, "hyper:width": 1024, "hyper:momentum": 0.9, "hyper:seed": 9999 },
    },
  ];
  const data = { columns: settings, rows: trials };
  const logs = (/** @type {string[]} */ ...chosen) => [...logAxes(data, new Set(chosen))];
  assert.deepEqual(logs(), ["hyper:lr", "hyper:width"]);
  assert.deepEqual(logs("!hyper:lr", "hyper:momentum"), ["hyper:width", "hyper:momentum"]);
});

test("integers beyond 2^53 are exact in tables, and numbers on axes", () => {
  const large = ["9007199254740993", 5, "-4611686018427387905", "9007199254740995", undefined];
  const many = large.map((big, i) => ({ run: String(i), values: { big } }));
  assert.deepEqual(
    sortedBy(many, "big", false).map(({ run }) => run),
    ["2", "1", "0", "3", "4"],
  );
  assert.deepEqual(columnNumbers(many, "big"), [2 ** 53, 5, -(2 ** 62), 2 ** 53 + 4, null]);
});

test("integers that are equal as doubles have places of their own, and texts that differ", () => {
  const texts = ["1152921504606846977", 42, "1152921504606846976"];
  const large = texts.map((n, i) => ({ run: `${i}`, values: { n } }));
  const { ticks, of } = axisPosition(plot({ rows: large }), column("n"));
  assert.deepEqual(texts.map(of), [1, 0, 0.5]);
  const shown = shortTexts(
    ticks.map(({ text }) => text),
    (value, digits) => value.toPrecision(digits),
  );
  assert.deepEqual(shown, ["42", "…1504606846976", "…1504606846977"]);
  const odd = [1, NaN, Infinity, -Infinity].map((n, i) => ({ run: `${i}`, values: { n } }));
  assert.ok(Number.isNaN(axisPosition(plot({ rows: odd }), column("n")).of(NaN)));
});

test("numbers of an axis have as many digits as tell them apart", () => {
  const short = (values) => shortTexts(values, (value, digits) => String(Number(value.toPrecision(digits))));
  assert.deepEqual(short([0.001, 0.1]), ["0.001", "0.1"]);
  assert.deepEqual(short([1.25, 1.251]), ["1.25", "1.251"]);
  assert.deepEqual(
    short([2 ** 53 - 1, 2 ** 53 - 2]),
    ["9007199254740991", "9007199254740990"].map((t) => `…${t.slice(-13)}`),
  );
});
