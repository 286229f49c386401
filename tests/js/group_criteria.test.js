// Groups of runs: bins of numbers, the usual setting, and notes that are said once.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { isIncidental, namesRuns } from "../../web/mindinsight/web/static/js/core/run_traits.js";
import { calmBands } from "../../web/mindinsight/web/static/js/views/scalar/band.js";
import { binsOf, usualSetting } from "../../web/mindinsight/web/static/js/views/scalar/criteria.js";
import { distinctNotes } from "../../web/mindinsight/web/static/js/views/scalar/group_notes.js";

const rates = Array.from({ length: 40 }, (_, i) => 10 ** (-4 + (3 * i) / 40));
const labels = (values, how) => {
  const bins = binsOf(values, how);
  return [...new Set(values.map((value) => bins?.label(bins.of(value)).join(" to ")))];
};

test("numbers over decades have bins of decades, others quarters of the runs, few numbers none", () => {
  assert.deepEqual(labels(rates, ""), ["0.0001 to 0.001", "0.001 to 0.01", "0.01 to 0.1"]);
  const widths = Array.from({ length: 16 }, (_, i) => 64 + i);
  assert.deepEqual(labels(widths, ""), ["64 to 67", "68 to 71", "72 to 75", "76 to 79"]);
  assert.equal(binsOf([32, 64, 128, 256, 32], ""), null);
  assert.equal(binsOf(widths, "each"), null);
  assert.equal(binsOf(["adam", "sgd"], ""), null);
});

test("every number is in the bin whose edges are stated, also at an edge and below zero", () => {
  const decades = binsOf([1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.3, 0.4, 2], "");
  assert.deepEqual(decades?.label(decades.of(1e-3)), ["0.001", "0.01"]);
  assert.equal(binsOf([-3, -2, -1, 0, 1, 2, 3, 4], "decades")?.kind, "quarters");
  const equal = labels([1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7], "quarters");
  assert.deepEqual(equal, ["1 to 4", "5 to 7"], "equal numbers stay together");
});

const runs = (of) => rates.map((rate, i) => ({ id: String(i), hyper: { rate, seed: i, ...of(i) } }));

test("the usual setting is the one whose groups end most differently, not a seed, path or time", () => {
  const made = runs((i) => ({
    batch: 32 * (1 + (i % 3)),
    out_dir: `/tmp/${i}`,
    started: `2026-01-${10 + i}`,
  }));
  const byRate = (run) => (Math.log10(run.hyper.rate) + 2.5) ** 2; // best in the middle
  const byIndex = (run) => Number(run.id);
  assert.equal(usualSetting(made, byRate), "rate");
  assert.equal(
    usualSetting(made, (run) => (run.hyper.batch === 96 ? NaN : 1)),
    "batch",
  );
  assert.equal(
    usualSetting(made, () => undefined),
    "batch",
    "fewest groups without values",
  );
  assert.equal(
    usualSetting(
      runs(() => ({})),
      byRate,
    ),
    "rate",
  );
  assert.equal(
    usualSetting(
      rates.map((_, i) => ({ id: String(i), hyper: { seed: i } })),
      byIndex,
    ),
    "seed",
  );
});

test("what most runs have for themselves is no kind of run; a path that many share is one", () => {
  const each = rates.map((_, i) => `/data/run_${i}`);
  assert.equal(isIncidental("output", each), true);
  assert.equal(isIncidental("weights", each), true, "by its values");
  assert.equal(isIncidental("user:seed", [1, 1, 2, 2]), true);
  assert.equal(isIncidental("model_path", ["/a", "/a", "/b", "/b"]), false);
  assert.equal(isIncidental("optimizer", ["adam", "sgd", "lion"]), false);
  assert.equal(isIncidental("learning_rate", rates), false);
});

test("the pages know settings that name runs as the server does", () => {
  const cases = new URL("../data/settings_that_name_runs.json", import.meta.url);
  for (const [name, values, expected] of JSON.parse(readFileSync(cases, "utf-8"))) {
    assert.equal(namesRuns(name, values), expected, `${name} ${values}`);
  }
});

test("a note on several scalars is said once, with their names", () => {
  const claim = (step) => ({ key: "claim.group.non_finite", values: { n: 2, step }, evidence: [] });
  const bands = (step) => [{ claims: [] }, { claims: [claim(step)] }];
  const notes = distinctNotes(
    new Map([
      ["loss", bands(3)],
      ["norm", bands(3)],
      ["val", bands(9)],
    ]),
  );
  assert.deepEqual(
    notes.map(({ group, tags }) => [group, tags]),
    [
      [1, ["loss", "norm"]],
      [1, ["val"]],
    ],
  );
});

test("a band that a few values flatten has a calmer range, one that rises all along has none", () => {
  const band = (high) => ({ step: high, low: new Float64Array(high.length), high });
  const spiked = Float64Array.from({ length: 100 }, (_, i) => (i === 50 ? 1000 : 2));
  assert.ok((calmBands([band(spiked)])?.[1] ?? 1000) < 10);
  assert.equal(calmBands([band(Float64Array.from({ length: 100 }, (_, i) => i))]), null);
});
