// Areas of groups within the values of their runs, and gaps where runs no longer count.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  around,
  isAlone,
  reachedByAll,
  withGaps,
} from "../../web/mindinsight/web/static/js/views/scalar/group_card.js";

const band = () => ({
  step: Float64Array.of(1, 2, 3),
  curves: Float64Array.of(3, 2, 2),
  counted: Float64Array.of(3, 2, 2),
  jobs: 3,
  mean: Float64Array.of(1, 2, 3),
  deviation: Float64Array.of(5, 0.5, 0.5),
  low: Float64Array.of(0, 1, 1),
  high: Float64Array.of(2, 4, 4),
});

test("one standard deviation around the mean ends at the smallest and the largest value", () => {
  const [down, up] = around(/** @type {any} */ (band()));
  assert.deepEqual([...down], [0, 1.5, 2.5]);
  assert.deepEqual([...up], [2, 2.5, 3.5]);
});

test("a line has a gap before the step at which fewer runs count", () => {
  const { step, mean, curves } = withGaps(/** @type {any} */ (band()));
  assert.deepEqual([...step], [1, 2, 2, 3]);
  assert.deepEqual([...mean], [1, NaN, 2, 3]);
  assert.deepEqual([...curves], [3, 2, 2, 2]);
});

test("a line has a gap where a run begins, and none where ended runs count with their last values", () => {
  const begun = { ...band(), curves: Float64Array.of(2, 3, 3), counted: Float64Array.of(2, 3, 3) };
  assert.deepEqual([...withGaps(/** @type {any} */ (begun)).mean], [1, NaN, 2, 3]);
  const held = { ...band(), counted: Float64Array.of(3, 3, 3) };
  assert.deepEqual([...withGaps(/** @type {any} */ (held)).mean], [1, 2, 3]);
});

test("a mean is lighter from the last step that all runs reach", () => {
  const [full, partial] = reachedByAll(/** @type {any} */ (band()));
  assert.deepEqual([...full], [1, NaN, NaN]);
  assert.deepEqual([...partial], [1, 2, 3]);
  const whole = { ...band(), curves: Float64Array.of(3, 3, 3) };
  assert.deepEqual(
    reachedByAll(/** @type {any} */ (whole)).map((values) => [...values]),
    [
      [1, 2, 3],
      [NaN, NaN, NaN],
    ],
  );
});

test("a mean between two gaps is alone, one beside another mean is not", () => {
  const mean = Float64Array.of(1, NaN, 2, NaN, 3, 4, NaN);
  assert.deepEqual(
    Array.from(mean.keys()).filter((i) => isAlone(mean, i)),
    [0, 2],
  );
});
