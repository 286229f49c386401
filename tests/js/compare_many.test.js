import assert from "node:assert/strict";
import { test } from "node:test";

import { countVerdicts, ordered } from "../../web/mindinsight/web/static/js/views/scalar/compare_many.js";

const claims = (...verdicts) => ({ claims: verdicts.map((verdict) => ({ verdict })) });

test("a run without the tag or a common step is not counted as one without a difference", () => {
  const series = new Map([
    ["far", claims("found", "found")],
    ["near", claims("clear")],
    ["short", claims("unknown")],
  ]);
  const runs = ["far", "near", "short", "without"].map((id) => ({ id }));
  assert.deepEqual(countVerdicts(series, runs), { beyond: 1, within: 1, unknown: 1, without: 1 });
  assert.deepEqual(countVerdicts(new Map(), runs), { beyond: 0, within: 0, unknown: 0, without: 4 });
});

test("what is missing or not finite is ranked last in both directions", () => {
  const values = [undefined, 2, NaN, -1, 10];
  assert.deepEqual(values.toSorted((a, b) => ordered(a, b, 1)).slice(0, 3), [-1, 2, 10]);
  assert.deepEqual(values.toSorted((a, b) => ordered(a, b, -1)).slice(0, 3), [10, 2, -1]);
  assert.deepEqual(
    ["run_10", "run_9"].toSorted((a, b) => ordered(a, b, 1)),
    ["run_9", "run_10"],
  );
});
