// Keys of a chart: which range they lead to, and to which point the cursor goes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { rangeAfter } from "../../web/mindinsight/web/static/js/core/chart_keys.js";
import { nextPoint } from "../../web/mindinsight/web/static/js/views/scalar/cursor_keys.js";

/** @param {string} key @param {[number, number] | null} [whole] */
const after = (key, whole = null) => rangeAfter({ key, shiftKey: false }, [20, 60], whole);

test("plus and minus zoom around the middle, arrows pan, zero shows all", () => {
  assert.deepEqual(after("+"), [30, 50]);
  assert.deepEqual(after("="), [30, 50]);
  assert.deepEqual(after("-"), [0, 80]);
  assert.deepEqual(after("ArrowLeft"), [10, 50]);
  assert.deepEqual(after("ArrowRight"), [30, 70]);
  assert.equal(after("0"), null);
  assert.equal(after("Home"), null);
  assert.equal(after("p"), undefined);
});

test("zooming out ends at the whole axis", () => {
  assert.equal(after("-", [5, 70]), null);
  assert.deepEqual(after("-", [5, 700]), [0, 80]);
});

test("the cursor goes to the next point that can be told from the last, within what is seen", () => {
  const columns = [Float64Array.of(0, 10, 11, 20, 900), Float64Array.of(14)];
  const go = (/** @type {number} */ from, /** @type {number} */ sign) =>
    nextPoint(columns, (x) => x, from, sign, 100);
  assert.equal(go(-12, 1), 0);
  assert.equal(go(0, 1), 10);
  assert.equal(go(10, 1), 20);
  assert.equal(go(20, 1), null);
  assert.equal(go(20, -1), 14);
  assert.equal(go(112, -1), 20);
});
