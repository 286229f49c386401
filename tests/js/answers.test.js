import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { number } from "../../web/mindinsight/web/static/js/core/format.js";
import { createTranslate } from "../../web/mindinsight/web/static/js/core/i18n.js";
import { sentence } from "../../web/mindinsight/web/static/js/views/align/tables.js";
import { splitRuns } from "../../web/mindinsight/web/static/js/views/why/groups.js";
const texts = JSON.parse(
  readFileSync(new URL("../../web/mindinsight/web/locales/en/align.json", import.meta.url), "utf8"),
);
const app = { t: createTranslate(texts, "en"), format: { number } };
const runs = ["a", "b", "c", "d", "e", "f"].map((id) => ({ id }));
const value = ({ id }) => "abcdef".indexOf(id);
const of = (groups, group) => [...groups].filter(([, name]) => name === group).map(([id]) => id);

test("the best third is good and the worst third is bad, whichever end is the best", () => {
  const lower = splitRuns(runs, value, "min", () => false);
  assert.deepEqual(
    [of(lower, "good"), of(lower, "bad")],
    [
      ["a", "b"],
      ["e", "f"],
    ],
  );
  const higher = splitRuns(runs, value, "max", () => false);
  assert.deepEqual(
    [of(higher, "good"), of(higher, "bad")],
    [
      ["f", "e"],
      ["b", "a"],
    ],
  );
});

test("what is broken is bad, and never good", () => {
  const groups = splitRuns(runs, value, "min", ({ id }) => id === "a");
  assert.deepEqual(
    [of(groups, "good"), of(groups, "bad")],
    [
      ["b", "c"],
      ["a", "f"],
    ],
  );
  const pair = splitRuns(runs.slice(0, 2), value, "min", () => false);
  assert.deepEqual([of(pair, "good"), of(pair, "bad")], [["a"], ["b"]]);
});

test("an alignment is one sentence", () => {
  const headline = { main: "loss", verdict: "drifts", agrees_to: 1594, beyond: 1595, drifting: 2 };
  const tags = [{ tag: "norm", verdict: "drifts", onset: 1200, beyond: 1300 }];
  assert.equal(
    sentence(app, { headline, tolerance: 1e-3, tags }),
    "loss agrees within 1 ‰ up to step 1594. The drift begins about step 1200 in norm. 1 more scalar drifts.",
  );
  const noisy = [{ tag: "loss", verdict: "drifts", onset: 59, beyond: 2, noise: 0.248 }];
  assert.equal(
    sentence(app, {
      headline: { ...headline, agrees_to: 1, beyond: 2, drifting: 1 },
      tolerance: 1e-3,
      tags: noisy,
    }),
    "loss agrees within 1 ‰ up to step 1. Its usual difference before is 248 ‰; " +
      "beyond that, the drift begins about step 59 in loss.",
  );
  const agreeing = { main: "loss", verdict: "agrees", agrees_to: 99, beyond: null, drifting: 0 };
  assert.equal(
    sentence(app, { headline: agreeing, tolerance: 1e-5, tags: [] }),
    "loss agrees within 0.01 ‰ at all common steps. No scalar drifts beyond its noise.",
  );
});
