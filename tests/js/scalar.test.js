import assert from "node:assert/strict";
import { test } from "node:test";

import { comparable } from "../../web/mindinsight/web/static/js/views/scalar/compare.js";
import { closest } from "../../web/mindinsight/web/static/js/views/scalar/nearest.js";
import { figure } from "../../web/mindinsight/web/static/js/views/scalar/figure.js";
import { nonFinite } from "../../web/mindinsight/web/static/js/views/scalar/chart_footer.js";
import { appended } from "../../web/mindinsight/web/static/js/views/scalar/append_points.js";
import { merged } from "../../web/mindinsight/web/static/js/views/scalar/merge.js";
import {
  readOptions,
  smoothing,
  writeOptions,
} from "../../web/mindinsight/web/static/js/views/scalar/options.js";
import { createPast } from "../../web/mindinsight/web/static/js/views/scalar/zoom_history.js";
import { calmRange } from "../../web/mindinsight/web/static/js/core/calm_range.js";
import { scaleOf } from "../../web/mindinsight/web/static/js/views/scalar/scale.js";
import { parseThreshold } from "../../web/mindinsight/web/static/js/views/scalar/threshold.js";
import { upright, zoomed } from "../../web/mindinsight/web/static/js/views/scalar/zoom.js";
import { address, curve } from "./scalar_helpers.js";

function rewritten(search) {
  const url = address(search);
  writeOptions(url, readOptions(url));
  return url.text();
}

test("what is chosen survives the address", () => {
  for (const search of [
    "",
    "m=ranks&job=./a",
    "x=wall&s=0.9&y=log&lx=symlog",
    "s=0.9&sk=gaussian&y=log",
    "clip=1&old=1&st=1",
    "z=10,20.5",
    "z=1700000000.25,1700000001&at=0",
    "at=1700000000.5",
    "zy=loss/a:b:-1,2",
    "pin=a|b&pin=c&mix=a|b",
    "th=a:b:>1",
    "g=name:^x&tol=0.01",
  ]) {
    assert.equal(decodeURIComponent(rewritten(search)), search);
  }
});

test("what makes no sense in an address is left out", () => {
  for (const search of ["m=other", "z=5,1", "z=abc", "zy=loss:2,1", "zy=loss", "y=cubic", "tol=-1"]) {
    assert.equal(rewritten(search), "");
  }
  assert.equal(readOptions(address("s=7")).smooth, 0.6);
});

test("few points are smoothed only by somebody's choice", () => {
  assert.deepEqual(smoothing(readOptions(address(""))), { smooth: 0.6, least: 50 });
  assert.deepEqual(smoothing(readOptions(address("s=0.5"))), { smooth: 0.5, least: null });
  assert.deepEqual(smoothing(readOptions(address("s=0"))), {});
  assert.deepEqual(smoothing(readOptions(address("s=0.5&sk=mean"))), {
    smooth: 0.5,
    least: null,
    kind: "mean",
  });
});

const linear = scaleOf("linear", []);
const axis = { r2c: (end) => Number(end) };

test("a zoom is told in the units of the data", () => {
  const log = { r2c: (end) => 10 ** end };
  const change = { "xaxis.range[0]": 1, "xaxis.range[1]": 2, "yaxis.range[0]": -1, "yaxis.range[1]": 0 };
  assert.deepEqual(zoomed(change, { xaxis: axis, yaxis: log }, { x: linear, y: scaleOf("log", []) }, false), {
    zoom: [1, 2],
    tall: [0.1, 1],
  });
  assert.deepEqual(
    zoomed(
      { "xaxis.range[0]": 5000, "xaxis.range[1]": 6000 },
      { xaxis: axis, yaxis: axis },
      { x: linear, y: linear },
      true,
    ),
    { zoom: [5, 6] },
  );
});

test("a zoom that is undone differs from one that did not change", () => {
  const scales = { x: linear, y: linear };
  assert.deepEqual(
    zoomed({ "xaxis.autorange": true, "yaxis.autorange": true }, { xaxis: axis, yaxis: axis }, scales, false),
    { zoom: null, tall: null },
  );
  assert.deepEqual(zoomed({ width: 5 }, { xaxis: axis, yaxis: axis }, scales, false), {});
});

test("a zoom on a symmetric logarithmic axis comes back to the same values", () => {
  const scale = scaleOf("symlog", [[-100, 0.01, 50]]);
  const [low, high] = upright([-20, 5], scale);
  const back = zoomed(
    { "yaxis.range[0]": low, "yaxis.range[1]": high },
    { xaxis: axis, yaxis: axis },
    { x: linear, y: scale },
    false,
  );
  assert.ok(Math.abs(back.tall[0] + 20) < 1e-9 && Math.abs(back.tall[1] - 5) < 1e-9);
});

test("a range below zero has no place on a logarithmic axis", () => {
  assert.equal(upright([-1, 5], scaleOf("log", [])), null);
  assert.deepEqual(upright([1, 100], scaleOf("log", [])), [0, 2]);
});

test("symlog is linear at zero, symmetric, and marks decades", () => {
  const { to, from, ticks } = scaleOf("symlog", [[1e-3, -10]]);
  assert.equal(to(0), 0);
  for (const value of [1e-4, 0.5, 10, 1e6]) {
    assert.ok(Math.abs(from(to(value)) / value - 1) < 1e-9);
    assert.equal(to(-value), -to(value));
  }
  assert.ok(ticks.ticktext.includes("0") && ticks.ticktext.includes("−10"));
  assert.equal(scaleOf("symlog", [[0, NaN]]).ticks, undefined);
});

test("a calm range leaves out lonely outliers and nothing else", () => {
  const values = Array.from({ length: 200 }, (_, i) => i / 200);
  assert.equal(calmRange([values]), null);
  const [low, high] = calmRange([[...values, 1e6]]);
  assert.ok(low < 0.02 && high > 0.98 && high < 2);
  assert.equal(calmRange([[1, 2, 1e9]]), null);
});

test("thresholds are read as they are written", () => {
  for (const text of [">1", "<-0.5", "0.1~5", "!0.1~5"]) assert.equal(parseThreshold(text).toString(), text);
  for (const text of ["", "5", ">x", "5~1", null, undefined]) assert.equal(parseThreshold(text), null);
  const accepted = (text) => [0, 1, 2, 3].filter((value) => parseThreshold(text).holds(value));
  assert.deepEqual(
    [accepted(">1"), accepted("<1"), accepted("1~2"), accepted("!1~2")],
    [[2, 3], [0], [1, 2], [0, 3]],
  );
  assert.ok(!parseThreshold(">1").holds(NaN));
  for (const limit of [0.1, 0.7, 0.3]) {
    assert.ok(!parseThreshold(`>${limit}`).holds(Math.fround(limit)));
    assert.ok(!parseThreshold(`<${limit}`).holds(Math.fround(limit)));
    assert.ok(parseThreshold(`${limit}~1`).holds(Math.fround(limit)));
  }
});

test("lines that look alike become one with gaps", () => {
  const line = (colour, x, y) => ({ mode: "lines", line: { color: colour }, x, y });
  const dots = { mode: "markers", x: [9], y: [9] };
  const [red, blue, marks] = merged([
    line("red", [1, 2], [3, 4]),
    line("blue", [1], [1]),
    dots,
    line("red", [5], [6]),
  ]);
  assert.deepEqual(
    [[...red.x], [...red.y]],
    [
      [1, 2, NaN, 5],
      [3, 4, NaN, 6],
    ],
  );
  assert.deepEqual([...blue.x], [1]);
  assert.equal(marks, dots);
});

test("the row nearest to a place is found", () => {
  const at = (x) => closest([1, 2, 10, 20], x);
  assert.deepEqual([-5, 1.4, 1.6, 6.1, 5.9, 99].map(at), [0, 0, 1, 2, 1, 3]);
  assert.equal(closest([], 1), -1);
});

test("what is not finite is counted and its beginning named", () => {
  assert.equal(nonFinite([]), null);
  assert.deepEqual(
    nonFinite([
      ["nan", 7, 9, 3],
      ["inf", 4, 4, 1],
      ["nan", 12, 12, 1],
    ]),
    { total: 5, first: 4, kinds: ["NaN", "+Inf"] },
  );
});

/** @param {Record<string, string[]>} holders tag -> runs @param {string[]} selected */
function page(holders, selected) {
  return {
    app: { selection: { has: (run) => selected.includes(run) } },
    runsOf: (tag) => holders[tag] ?? [],
  };
}

test("only what the baseline and another run hold is compared", () => {
  const holders = { both: ["a", "b"], base: ["a"], other: ["b"] };
  assert.deepEqual(comparable(page(holders, ["a", "b"]), Object.keys(holders), "a"), ["both"]);
});

/** @param {string} search @param {any} tail what the server says is new */
function growing(search, tail) {
  return { options: () => readOptions(address(search)), tails: async () => tail };
}

const GROWN = new Set(["./a"]);
const { signal } = new AbortController();

const NEWS = {
  count: 3,
  step: Float64Array.of(3),
  wall: Float64Array.of(103),
  value: Float64Array.of(0.3),
  non_finite: [["nan", 3, 3, 1]],
};

test("new points are put behind those that are here", async () => {
  const appendedCurves = await appended(
    growing("s=0", NEWS),
    new Map([["loss", [curve([1, 2], [1, 2])]]]),
    400,
    GROWN,
    signal,
  );
  const [grown] = appendedCurves.get("loss");
  assert.deepEqual(
    [[...grown.step], [...grown.value], grown.points, grown.count],
    [[1, 2, 3], [1, 2, 0.3], 3, 3],
  );
  assert.deepEqual(grown.non_finite, [["nan", 3, 3, 1]]);
});

test("averages of what lies ahead are fetched anew, as they change behind", async () => {
  const before = new Map([["loss", [curve([1, 2], [1, 2])]]]);
  for (const kind of ["gaussian", "mean"]) {
    assert.equal(await appended(growing(`s=0.5&sk=${kind}`, NEWS), before, 400, GROWN, signal), null);
  }
  assert.ok(await appended(growing("s=0&sk=mean", NEWS), before, 400, GROWN, signal));
});

test("relative time goes on from where the curve began", async () => {
  const before = curve([1, 2], [1, 2], { x: Float64Array.of(0, 1) });
  const appendedCurves = await appended(
    growing("s=0&x=relative", NEWS),
    new Map([["loss", [before]]]),
    400,
    GROWN,
    signal,
  );
  assert.deepEqual([...appendedCurves.get("loss")[0].x], [0, 1, 2]);
});

test("a curve is fetched anew when its tail does not fit", async () => {
  const curves = new Map([["loss", [curve([1, 2], [1, 2])]]]);
  assert.equal(await appended(growing("s=0", { ...NEWS, whole: true }), curves, 400, GROWN, signal), null);
  assert.equal(await appended(growing("z=1,2", NEWS), curves, 400, GROWN, signal), null);
  assert.equal(await appended(growing("x=tag:lr", NEWS), curves, 400, GROWN, signal), null);
  assert.equal(
    await appended(growing("s=0.5", { ...NEWS, smooth: Float64Array.of(1) }), curves, 400, GROWN, signal),
    null,
  );
  assert.equal(await appended(growing("", NEWS), new Map(), 400, GROWN, signal), null);
  const long = Array.from({ length: 1200 }, (_, i) => i);
  assert.equal(
    await appended(growing("s=0", NEWS), new Map([["loss", [curve(long, long)]]]), 400, GROWN, signal),
    null,
  );
});

test("only curves of runs that have grown are asked for", async () => {
  const asked = [];
  const following = {
    ...growing("s=0", NEWS),
    tails: async (_key, known) => {
      asked.push(known);
      return NEWS;
    },
  };
  const still = { ...curve([1, 2], [1, 2]), run: "./still" };
  const fresh = await appended(
    following,
    new Map([["loss", [curve([1, 2], [1, 2]), still]]]),
    400,
    GROWN,
    signal,
  );
  assert.deepEqual(asked, [{ tag: "loss", run: "./a", since: 2, generation: 1 }]);
  assert.equal(fresh.get("loss")[1], still);
});

const SHEET = { margin: { l: 48, r: 12, t: 8, b: 32 }, font: { size: 11 } };
const app = { theme: { plotly: () => SHEET, axis: (more) => more, colour: (name) => name } };
const linesOf = (only) => [{ label: "a", colour: "#123456", dash: "solid", curve: only }];

test("a figure stands where it was zoomed, on any scale", () => {
  const lines = linesOf(curve([1, 10, 100], [1, 2, 3]));
  const at = (search, tall) => figure(app, lines, readOptions(address(search)), null, tall).layout;
  assert.deepEqual(at("z=10,100", [1, 2]).xaxis.range, [10, 100]);
  assert.deepEqual(at("z=10,100&lx=log", [1, 2]).xaxis.range, [1, 2]);
  assert.deepEqual(at("z=10,100&x=wall").xaxis.range, [10_000, 100_000]);
  assert.deepEqual(at("y=log", [1, 100]).yaxis.range, [0, 2]);
  assert.deepEqual(at("", [0.5, 2]).yaxis.range, [0.5, 2]);
  const automatic = at("y=log").yaxis.range;
  assert.deepEqual(at("y=log", [-1, 2]).yaxis.range, automatic);
});

test("a curve before a restart is dashed, and not joined to the newest", () => {
  const overwritten = [
    { step: Float64Array.of(1, 2, 3), wall: Float64Array.of(1, 2, 3), value: Float64Array.of(9, 8, 7) },
  ];
  const { data } = figure(app, linesOf(curve([2, 3], [1, 1], { overwritten })), readOptions(address("s=0")));
  assert.deepEqual(
    data.map((trace) => [trace.line.dash, [...trace.x]]),
    [
      ["dash", [1, 2, 3]],
      ["solid", [2, 3]],
    ],
  );
});

test("values beyond a threshold are drawn once more in red", () => {
  const { data, layout } = figure(
    app,
    linesOf(curve([1, 2, 3], [1, 5, 6])),
    readOptions(address("s=0")),
    parseThreshold(">4"),
  );
  const red = data.at(-1);
  assert.equal(red.line.color, "--bad");
  assert.deepEqual([...red.y], [NaN, 5, 6]);
  assert.deepEqual(
    layout.shapes.map((line) => line.y0),
    [4],
  );
});

test("zooms that were left come back, newest first, until another axis is chosen", () => {
  const past = createPast();
  let options = readOptions(address(""));
  const choose = (changes) => {
    past.leave(options, changes);
    options = { ...options, ...changes };
  };
  assert.equal(past.back(), undefined);
  choose({ zoom: [0, 10] });
  choose({ smooth: 0.9 });
  choose({ tall: new Map([["loss", [1, 2]]]) });
  assert.deepEqual(past.back(), { zoom: [0, 10], tall: new Map() });
  assert.deepEqual(past.back(), { zoom: null, tall: new Map() });
  assert.equal(past.any(), false);
  choose({ zoom: [0, 10] });
  choose({ x: "step" });
  assert.equal(past.any(), true);
  choose({ x: "wall" });
  assert.equal(past.any(), false);
});

test("alerts are lines in the colours of their runs, behind the place that was clicked", () => {
  const drawnLines = linesOf(curve([1, 10, 100], [1, 2, 3]));
  const marks = [{ x: 3, colour: "#123456", words: "odd" }];
  const lines = figure(app, drawnLines, readOptions(address("at=2")), null, undefined, marks).layout.shapes;
  assert.deepEqual(
    lines.map(({ x0, line }) => [x0, line.dash]),
    [
      [3, "dot"],
      [2, "solid"],
    ],
  );
  assert.equal(lines[0].line.color, "#123456");
});

test("the place that was clicked is a line, on any axis", () => {
  const drawnLines = linesOf(curve([1, 10, 100], [1, 2, 3]));
  const at = (search) =>
    figure(app, drawnLines, readOptions(address(search))).layout.shapes.map((line) => line.x0);
  assert.deepEqual(at("at=10"), [10]);
  assert.deepEqual(at("at=110&x=wall"), [110_000]);
  assert.deepEqual(at("at=0"), []); // before the first point: it would stretch the axis
  assert.deepEqual(at("at=101"), []);
  assert.deepEqual(at(""), []);
});
