import assert from "node:assert/strict";
import { test } from "node:test";

import { axisOf, rangeOf } from "../../web/mindinsight/web/static/js/core/sketch/axis.js";
import { withRoomForLabels } from "../../web/mindinsight/web/static/js/core/sketch/margins.js";
import {
  areaPath,
  dashes,
  hasSymbols,
  linePath,
  markerPath,
} from "../../web/mindinsight/web/static/js/core/sketch/paths.js";
import { canSketch } from "../../web/mindinsight/web/static/js/core/sketch/sketch.js";
import { stepTicks } from "../../web/mindinsight/web/static/js/views/scalar/value_axis.js";

const UNIT = {
  x: axisOf({ type: "linear" }, [0, 10], { offset: 0, length: 10 }),
  y: axisOf({ type: "linear" }, [0, 10], { offset: 0, length: 10, up: true }),
};

test("an axis ends at its lines, and leaves room for markers, as Plotly does", () => {
  const lines = { values: [1, NaN, 5], px: 0 };
  assert.deepEqual(rangeOf({ type: "linear" }, [lines], 100), [1, 5]);
  assert.deepEqual(rangeOf({ type: "linear", range: [2, 3] }, [lines], 100), [2, 3]);
  assert.deepEqual(rangeOf({ type: "linear" }, [{ values: [4], px: 0 }], 100), [3, 5]);
  assert.deepEqual(rangeOf({ type: "log" }, [{ values: [-1, 0, 10, 1000], px: 0 }], 100), [1, 3]);
  assert.deepEqual(rangeOf({ type: "linear" }, [{ values: [NaN], px: 9 }], 100), [-1, 6]);
  const [low, high] = rangeOf({ type: "linear" }, [lines, { values: [3, 5], px: 20 }], 100);
  assert.deepEqual([low, high], [1, 6], "20 of 100 px stay free behind the marker at 5, none before 1");
});

test("pixels are those of the values, up to down on y, and back", () => {
  const axis = axisOf({ type: "log" }, [0, 2], { offset: 8, length: 100, up: true });
  assert.deepEqual(
    [1, 10, 100].map((value) => axis.c2p(value) + 0),
    [100, 50, 0],
  );
  assert.equal(axis.p2c(50), 10);
  assert.ok(axis.c2p(0) > 1000 && axis.c2p(-5) > 1000, "zero is far below a logarithmic axis");
  assert.equal(axis._offset, 8);
});

test("a line has a gap where a value is missing, and a point beyond sight stays drawable", () => {
  assert.equal(linePath([0, 1, 2, 3, 4], [0, 1, NaN, null, 4], UNIT), "M0,100l10,-10M40,60");
  assert.equal(linePath([0, 1], [0, 1e300], UNIT), "M0,100l10,-100100");
  assert.equal(linePath([], [], UNIT), "");
});

test("an area lies between two lines, or inside of one", () => {
  const low = { x: [0, 1], y: [1, 1], fill: "tonexty" };
  const high = { x: [0, 1, 1], y: [2, 2, NaN], fill: "tonexty" };
  assert.equal(areaPath(high, low, UNIT), "M0,80L10,80L10,90L0,90Z");
  assert.equal(areaPath({ ...low, fill: "toself" }, high, UNIT), "M0,90L10,90Z");
});

test("markers have the symbol and size of their point", () => {
  const marker = { symbol: ["circle", "line-ns-open", "x"], size: 4 };
  const path = markerPath({ x: [1, 2, NaN], y: [1, 2, 3], marker }, UNIT);
  assert.match(path, /^M10,90m-20,0a20,20 .*M20,80m0,-28v56$/);
  assert.ok(hasSymbols("triangle-up") && hasSymbols(undefined) && !hasSymbols(["x", "star"]));
});

test("dashes are as long as Plotly's", () => {
  assert.equal(dashes("dash", 1), "90,90");
  assert.equal(dashes("dot", 4), "40,40");
  assert.equal(dashes("solid", 1), null);
});

test("only lines and markers over axes with given ticks are sketched", () => {
  const axis = { type: "linear", tickvals: [1], ticktext: ["1"] };
  const line = { type: "scatter", mode: "lines" };
  const figure = (/** @type {any[]} */ data, xaxis = axis) => ({ data, layout: { xaxis, yaxis: axis } });
  assert.ok(canSketch(figure([line])));
  assert.ok(!canSketch(figure([line, { type: "heatmap" }])));
  assert.ok(!canSketch(figure([{ ...line, mode: "lines+text" }])));
  assert.ok(!canSketch(figure([line], { ...axis, type: "date" })));
  assert.ok(!canSketch(figure([line], { type: "linear" })));
});

test("margins have room for the longest label, and stay when Plotly chooses the labels", () => {
  const layout = { font: { size: 10 }, margin: { l: 48, r: 12, t: 8, b: 32 } };
  const wide = { tickvals: [1], ticktext: ["0.000012345678"] };
  const roomy = withRoomForLabels({ ...layout, xaxis: { ticktext: ["1"] }, yaxis: wide });
  assert.deepEqual(roomy.margin, { l: 94, r: 12, t: 8, b: 32 });
  assert.equal(roomy.yaxis.automargin, false);
  assert.equal(withRoomForLabels({ ...layout, xaxis: {}, yaxis: wide }).margin, layout.margin);
});

test("an axis of steps has ticks at whole steps, inside of what is looked at", () => {
  const curve = { step: [1, 2, 3], wall: [1, 2, 3], x: [0.1, 0.2, 0.3] };
  const lines = /** @type {any[]} */ ([{ curve }]);
  const ticks = (/** @type {object} */ options) =>
    stepTicks(lines, /** @type {any} */ ({ x: "step", logX: "linear", zoom: null, ...options })).tickvals;
  assert.deepEqual(ticks({}), [1, 2, 3]);
  assert.deepEqual(ticks({ zoom: [2, 3] }), [2, 3]);
  assert.deepEqual(ticks({ x: "tag:rate" }), [0.1, 0.15, 0.2, 0.25, 0.3]);
  assert.deepEqual(ticks({ x: "wall" }), [1000, 2000, 3000]);
});
