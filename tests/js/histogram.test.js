import assert from "node:assert/strict";
import { test } from "node:test";

import { overlayFigure } from "../../web/mindinsight/web/static/js/views/histogram/outlines.js";
import { heatFigure, strongest } from "../../web/mindinsight/web/static/js/views/histogram/over_time.js";
import { firstStrange, summed } from "../../web/mindinsight/web/static/js/views/histogram/not_finite.js";

test("a few steps with all values in one bin do not take the contrast of the others", () => {
  const peaks = new Float32Array(20).fill(0.25);
  peaks[0] = peaks[7] = 1;
  assert.equal(strongest(peaks), 0.25);
});

test("the strongest colour belongs to a step that was recorded", () => {
  assert.equal(strongest(Float32Array.of(0.5)), 0.5);
  assert.equal(strongest(Float32Array.of(0.25, 0.75)), 0.75);
  assert.equal(strongest(new Float32Array(0)), 1);
});

test("one step with all values alike does not flatten the overlay of the others", () => {
  const theme = { plotly: () => ({}), axis: (more) => more, dark: () => false };
  const app = { theme, format: { number: String } };
  const steps = 20;
  const counts = new Float32Array(2 * steps).fill(5);
  counts[0] = 100;
  const series = {
    shown: steps,
    counts,
    edges: Float64Array.of(0, 1, 2),
    step: new Float64Array(steps),
    wall: new Float64Array(steps),
  };
  assert.ok(overlayFigure(app, series, "step").layout.yaxis.range[1] < 10);
  counts.fill(5);
  assert.ok(overlayFigure(app, series, "step").layout.yaxis.range[1] > 5);
});

test("values that are not finite are summed, and the first step with any is told", () => {
  const facts = [
    { nan: 0, positive_infinity: 0, negative_infinity: 0 },
    { nan: 2, positive_infinity: 0, negative_infinity: 1 },
    { nan: 1, positive_infinity: 0, negative_infinity: 0 },
  ];
  assert.deepEqual(summed(facts), { nan: 3, positive_infinity: 0, negative_infinity: 1 });
  assert.equal(
    firstStrange([10, 20, 30], (kind, at) => facts[at][kind]),
    20,
  );
  assert.equal(
    firstStrange([10], (kind, at) => facts[at][kind]),
    undefined,
  );
});

test("steps without a finite value are filled, others with some are marked", () => {
  const theme = { plotly: () => ({}), axis: (more) => more, dark: () => false, colour: (name) => name };
  const app = { theme, t: (key) => key };
  const series = {
    shown: 3,
    counts: Float32Array.of(4, 0, 0, 2, 0, 0),
    edges: Float64Array.of(-1, 0, 1),
    step: Float64Array.of(7, 8, 9),
    wall: new Float64Array(3),
    nan: [0, 1, 4],
    positive_infinity: [0, 1, 0],
    negative_infinity: [0, 0, 0],
  };
  const [, bars, marks] = heatFigure(/** @type {any} */ (app), /** @type {any} */ (series), "step").data;
  assert.deepEqual(bars.z, [[NaN, NaN, 1]]);
  assert.deepEqual(bars.y, [-1, 1]);
  assert.deepEqual([marks.x, marks.y, marks.customdata], [[8], [1], [2]]);
  const finite = { ...series, nan: [0, 0, 0], positive_infinity: [0, 0, 0] };
  assert.equal(heatFigure(/** @type {any} */ (app), /** @type {any} */ (finite), "step").data.length, 1);
});
