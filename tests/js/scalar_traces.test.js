import assert from "node:assert/strict";
import { test } from "node:test";

import { figure } from "../../web/mindinsight/web/static/js/views/scalar/figure.js";
import { readOptions } from "../../web/mindinsight/web/static/js/views/scalar/options.js";
import { address, curve } from "./scalar_helpers.js";

const SHEET = { margin: { l: 48, r: 12, t: 8, b: 32 }, font: { size: 11 } };
const app = { theme: { plotly: () => SHEET, axis: (more) => more, colour: (name) => name } };
const linesOf = (only) => [{ label: "a", colour: "#123456", dash: "solid", curve: only }];

const marked = (lines) =>
  figure(app, lines, readOptions(address("s=0"))).data.filter((trace) => trace.yaxis === "y2");

test("a figure marks what is not finite in red at the edges", () => {
  const few = linesOf(curve([1, 2, 3, 4], [1, NaN, Infinity, -Infinity]));
  const [marks, ...others] = marked(few);
  assert.deepEqual(
    [marks.x, marks.y, marks.marker.symbol, marks.marker.color],
    [[2, 3, 4], [1, 1, 0], ["x", "triangle-up", "triangle-down"], "--bad"],
  );
  assert.deepEqual(others, []);
});

test("many adjacent values that are not finite have one symbol and a line", () => {
  const values = Array.from({ length: 60 }, (_, i) => (i < 30 ? 1 : i < 50 ? NaN : Infinity));
  const steps = values.map((_, i) => i);
  const [strip, marks] = marked(linesOf(curve(steps, values)));
  assert.deepEqual(
    [marks.x, marks.y, marks.marker.symbol],
    [
      [30, 50],
      [1, 1],
      ["x", "triangle-up"],
    ],
  );
  assert.deepEqual([strip.x.length, strip.line.color], [32, "--bad"]);
  assert.deepEqual(
    [0, 1, 21].map((i) => strip.y[i]),
    [NaN, 1, NaN],
  );
});

test("a line is dotted across steps at which nothing was recorded", () => {
  const gap = curve([1, 2, 3, 90, 91], [5, 4, 3, 2, 1], { gaps: [[3, 90]] });
  const { data } = figure(app, linesOf(gap), readOptions(address("s=0")));
  assert.deepEqual(
    data.map(({ x, y, line }) => [[...x], [...y], line.dash]),
    [
      [[1, 2, 3, NaN, 90, 91, NaN], [5, 4, 3, NaN, 2, 1, NaN], "solid"],
      [[3, 90, NaN], [3, 2, NaN], "dot"],
    ],
  );
  const before = curve([1, 2, 3], [5, 4, 3], { gaps: [[3, 90]] });
  assert.equal(figure(app, linesOf(before), readOptions(address("s=0"))).data.length, 1);
});
