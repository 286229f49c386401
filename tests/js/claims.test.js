import assert from "node:assert/strict";
import { test } from "node:test";

import { withRest } from "../../web/mindinsight/web/static/js/core/claims.js";

test("the rest of a list takes the place of its ellipsis", () => {
  const claim = {
    key: "k",
    verdict: "note",
    values: { n: 3, settings: ["a", "…"], names: ["b"], rest: ["c", "d"] },
    evidence: [],
    missing: [],
  };
  const { values } = withRest(claim, ["c", "d"]);
  assert.deepEqual(values, { n: 3, settings: ["a", "c", "d"], names: ["b"], rest: ["c", "d"] });
  assert.deepEqual(claim.values.settings, ["a", "…"]);
});
