import assert from "node:assert/strict";
import { test } from "node:test";

import { lossTags, pathOf } from "../../web/mindinsight/web/static/js/components/landscape/curve.js";
import { landscapeFigure } from "../../web/mindinsight/web/static/js/views/landscape/figures.js";
import {
  intervalOf,
  labelOf,
  stepRange,
} from "../../web/mindinsight/web/static/js/components/landscape/intervals.js";

const path = { x: [0], y: [0], z: [0] };

test("an interval is its numbers, and that of final weights has none", () => {
  assert.equal(intervalOf({ path, intervals: [1, 2, 3] }), "1,2,3");
  assert.equal(intervalOf({ path: null, intervals: [] }), "final");
});

test("a long interval is told by its ends", () => {
  const t = (key) => key;
  assert.equal(labelOf(t, "1,2,3"), "1 … 3");
  assert.equal(labelOf(t, "1,2"), "1,2");
  assert.equal(labelOf(t, "final"), "landscape.final");
});

test("landscapes beside each other have one scale of colours and levels", () => {
  const page = /** @type {any} */ ({
    theme: { plotly: () => ({}), axis: (axis) => axis, colour: () => "#123456", dark: () => false },
    selection: { run: () => undefined, colour: () => "#123456" },
    t: (key) => key,
  });
  const landscape = /** @type {any} */ ({
    run: "a",
    x: [0, 1],
    y: [0],
    z: Float64Array.of(1, 2),
    path: null,
  });
  const look = {
    shown: 0,
    lines: 5,
    colours: "Viridis",
    range: [1, 9],
    levels: { start: 2, end: 8, size: 2 },
  };
  const drawn = (/** @type {string} */ mode) =>
    landscapeFigure(page, [landscape], /** @type {any} */ ({ ...look, mode }));
  for (const mode of ["lines", "map"]) {
    const [trace] = drawn(mode).data;
    assert.deepEqual([trace.zauto, trace.zmin, trace.zmax, trace.autocontour], [false, 1, 9, false]);
    assert.deepEqual([trace.contours.start, trace.contours.end, trace.contours.size], [2, 8, 2]);
  }
  const { data, layout } = drawn("surface");
  assert.deepEqual([data[0].cmin, data[0].cmax, layout.scene.zaxis.range], [1, 9, [1, 9]]);
});

test("numbers of epochs become steps", () => {
  assert.deepEqual(stepRange({ path, intervals: [1, 2, 4], unit: "epoch", step_per_epoch: 50 }), [50, 200]);
  assert.deepEqual(stepRange({ path, intervals: [10, 20], unit: "step", step_per_epoch: 50 }), [10, 20]);
});

test("final weights are where their tag says, or nowhere", () => {
  assert.deepEqual(stepRange({ path: null, intervals: [], unit: "step", tag: "landscape_[12]" }), [12, 12]);
  assert.equal(stepRange({ path: null, intervals: [], unit: "step", tag: "mine" }), null);
});

test("the curve is broken where the loss is not a number", () => {
  const loss = { run: "r", tag: "loss", step: [0, 1, 2, 3], value: [1, NaN, 0.5, 0] };
  assert.equal(
    pathOf(
      loss,
      (step) => step / 3,
      (value) => 1 - value,
    ),
    "M0.0 0.0M666.7 50.0L1000.0 100.0",
  );
});

test("each run has the curve of its own loss, whatever the others call theirs", () => {
  const tags = [
    { tag: "eval/loss", runs: ["a"], count: 1 },
    { tag: "loss/auto", runs: ["b"], count: 1 },
    { tag: "train/loss", runs: ["a", "c"], count: 2 },
    { tag: "val_loss", runs: ["d"], count: 1 },
    { tag: "lr", runs: ["a", "e"], count: 2 },
  ];
  assert.deepEqual(
    [...lossTags(tags, ["a", "b", "c", "d", "e"])],
    [
      ["train/loss", ["a", "c"]],
      ["loss/auto", ["b"]],
      ["val_loss", ["d"]],
    ],
  );
});

test("a surface that was turned keeps its camera when it is drawn again", () => {
  const theme = { colour: () => "#123456", plotly: () => ({}), axis: () => ({}), dark: () => false };
  const app = {
    theme,
    t: (key) => key,
    selection: { colour: () => "#123456", run: () => undefined },
    format: { number: String },
  };
  const grid = {
    run: "r",
    tag: "t",
    x: new Float64Array(2),
    y: new Float64Array(2),
    z: new Float64Array(4),
    path: null,
    intervals: [],
    convergence: null,
  };
  const camera = (points) =>
    landscapeFigure(app, [grid], { mode: "surface", shown: points, lines: 20, colours: "" }).layout.scene
      .uirevision;
  assert.ok(camera(1));
  assert.equal(camera(1), camera(2));
});
