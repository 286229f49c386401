import assert from "node:assert/strict";
import { test } from "node:test";

import { pointsText } from "../../web/mindinsight/web/static/js/views/scalar/chart_footer.js";
import { cutBands } from "../../web/mindinsight/web/static/js/views/scalar/value_axis.js";

test("a footer says when its points were loaded if newer ones are held back", () => {
  const lines = [{ curve: { points: 1021, step: [1, 2, 3] } }];
  const text = (live) =>
    pointsText(
      {
        live,
        format: { time: (unix) => `at ${unix}` },
        t: (key, values) => [key, values.shown, values.all, values.time],
      },
      lines,
      7,
    );
  const live = (state, paused = false, seconds = 0) => ({
    state: () => state,
    paused: () => paused,
    interval: () => seconds,
  });
  assert.deepEqual(text(live("live")), ["scalar.points", "3", "1,021", undefined]);
  for (const held of [live("live", true), live("live", false, 60), live("polling"), live("lost")]) {
    assert.deepEqual(text(held), ["scalar.points.at", "3", "1,021", "at 7"]);
  }
});

test("a chart says when its axis cuts the range over the ranks", () => {
  const value = Float64Array.from({ length: 20 }, (_, i) => 0.4 + 0.001 * (i % 5));
  const ranks = (/** @type {number} */ slow) => ({
    curve: {
      run: "job",
      value,
      step: value,
      low: value.map((v) => v - 0.001),
      high: value.map((v, i) => (i > 10 ? v + slow : v)),
    },
  });
  const options = (/** @type {string} */ y) => ({ y, clip: false });
  const cut = (/** @type {any} */ line, y = "linear", tall = undefined) =>
    cutBands([line], options(y), false, tall);
  const whole = cut(ranks(0.24));
  assert.ok(whole[0] <= 0.4 && whole[1] >= 0.64);
  assert.equal(cut(ranks(0.005)), null); // near miss: the axis holds it
  assert.equal(cut(ranks(0.24), "linear", whole), null); // it is shown
  assert.equal(cut(ranks(0.24), "symlog"), null);
  assert.equal(cut({ curve: { run: "run", value, step: value } }), null); // a single run
});
