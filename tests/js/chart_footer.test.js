import assert from "node:assert/strict";
import { test } from "node:test";

import { pointsText } from "../../web/mindinsight/web/static/js/views/scalar/chart_footer.js";

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
