import assert from "node:assert/strict";
import { test } from "node:test";

import { figure } from "../../web/mindinsight/web/static/js/views/scalar/figure.js";
import { readOptions } from "../../web/mindinsight/web/static/js/views/scalar/options.js";
import { address, curve } from "./scalar_helpers.js";

const SHEET = { margin: { l: 48, r: 12, t: 8, b: 32 }, font: { size: 11 } };
const app = { theme: { plotly: () => SHEET, axis: (more) => more, colour: (name) => name } };
const linesOf = (only) => [{ label: "a", colour: "#123456", dash: "solid", curve: only }];

test("a figure marks what is not finite in red at the edges, adjacent ones by a line", () => {
  const { data } = figure(
    app,
    linesOf(curve([1, 2, 2.5, 3, 4], [1, NaN, NaN, Infinity, -Infinity])),
    readOptions(address("s=0")),
  );
  const marks = data.find((trace) => trace.yaxis === "y2");
  assert.deepEqual(
    [marks.x, marks.y, marks.marker.symbol, marks.marker.size],
    [
      [2, 2.5, 3, 3, 4, 4],
      [1, 1, NaN, 1, NaN, 0],
      ["x", "x", "x", "triangle-up", "x", "triangle-down"],
      [7, 0, 0, 7, 0, 7],
    ],
  );
  assert.deepEqual([marks.marker.color, marks.line.color], ["--bad", "--bad"]);
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
