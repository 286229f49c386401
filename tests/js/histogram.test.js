import assert from "node:assert/strict";
import { test } from "node:test";

import { overlayFigure } from "../../web/mindinsight/web/static/js/views/histogram/outlines.js";
import {
  ownScale,
  SharedScales,
  valueAxis,
} from "../../web/mindinsight/web/static/js/components/histogram/shared_scale.js";
import { heatFigure, strongest } from "../../web/mindinsight/web/static/js/components/histogram/over_time.js";
import {
  firstNonFinite,
  summed,
} from "../../web/mindinsight/web/static/js/components/histogram/non_finite.js";

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
  const app = { theme, format: { number: String, step: String } };
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
    firstNonFinite([10, 20, 30], (kind, at) => facts[at][kind]),
    20,
  );
  assert.equal(
    firstNonFinite([10], (kind, at) => facts[at][kind]),
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
  const sheet = { getContext: () => null, toDataURL: () => "" };
  globalThis.document = /** @type {any} */ ({ createElement: () => sheet });
  const { data, layout } = heatFigure(/** @type {any} */ (app), /** @type {any} */ (series), "step");
  const [, bars, marks] = data;
  const [{ x, y, sizex, sizey }] = layout.images;
  assert.deepEqual([x, y, sizex, sizey], [6.5, 1, 3, 2], "stripes lie over the whole map");
  assert.deepEqual(bars.z, [[NaN, NaN, 1]]);
  assert.deepEqual(bars.y, [-1, 1]);
  assert.deepEqual([marks.x, marks.y, marks.customdata], [[8], [1], [2]]);
  const finite = { ...series, nan: [0, 0, 0], positive_infinity: [0, 0, 0] };
  assert.equal(heatFigure(/** @type {any} */ (app), /** @type {any} */ (finite), "step").data.length, 1);
});

/** @param {number} width of the bins @param {number[]} counts of one step in two bins */
const oneStep = (width, counts) =>
  /** @type {any} */ ({
    shown: 1,
    counts: Float32Array.from(counts),
    edges: Float64Array.of(-width, 0, width),
    step: Float64Array.of(7),
    wall: new Float64Array(1),
    ...{ nan: [0], positive_infinity: [0], negative_infinity: [0] },
  });

test("cards of one scale have the widest range and the highest density of them all", () => {
  const scales = new SharedScales();
  const painted = [];
  const tell = (name, series) => scales.tell("weight", { name }, ownScale(series), () => painted.push(name));
  assert.equal(scales.of("weight"), null);
  tell("narrow", oneStep(1, [3, 1]));
  assert.deepEqual(scales.of("weight"), { low: -1, high: 1, peak: 0.75 });
  tell("wide", oneStep(4, [300, 100]));
  assert.deepEqual(scales.of("weight"), { low: -4, high: 4, peak: 0.75 });
  assert.deepEqual(painted, ["narrow"], "who was drawn before is drawn again");
  tell("empty", oneStep(9, [0, 0]));
  assert.equal(scales.of("weight")?.high, 4);
});

test("equal densities have equal colours on a shared scale", () => {
  const theme = { plotly: () => ({}), axis: (more) => more, dark: () => false, colour: (name) => name };
  const app = /** @type {any} */ ({ theme, t: (/** @type {string} */ key) => key });
  const shares = [1, 4].map((width) => {
    const { data, layout } = heatFigure(app, oneStep(width, [width, 8 - width]), "step", {
      ...{ low: -4, high: 4, peak: 1 },
    });
    assert.deepEqual(layout.yaxis.range, [-4, 4]);
    return data[0].z[0][0] / data[0].zmax;
  });
  assert.ok(Math.abs(shares[0] - shares[1]) < 1e-6, String(shares));
});

test("values that differ by rounding have one short tick", () => {
  const edges = (/** @type {number} */ width) => Float64Array.of(1e6 - width, 1e6, 1e6 + width);
  assert.deepEqual(valueAxis(null, edges(3e-9)), { tickvals: [1e6], ticktext: ["1000000"] });
  assert.deepEqual(valueAxis(null, edges(1)), {});
  assert.deepEqual(valueAxis({ low: 0, high: 2 }, edges(3e-9)), { range: [0, 2] });
  assert.deepEqual(valueAxis(null, Float64Array.of(0, 0)), {});
});
