import assert from "node:assert/strict";
import { test } from "node:test";

import { plotTime, writeNumbers, zoneName } from "../../web/mindinsight/web/static/js/core/format.js";
import { durationTicks, timeTicks } from "../../web/mindinsight/web/static/js/views/scalar/time_ticks.js";
import { divergence } from "../../web/mindinsight/web/static/js/views/scalar/divergence.js";
import { ticksFor, ticksWithin, tickText } from "../../web/mindinsight/web/static/js/views/scalar/ticks.js";

test("numbers on an axis are full and short", () => {
  const texts = [0, 0.5, 200, 12_500, 3_200_000, 1e9, 2e-5, -12_500].map(tickText);
  assert.deepEqual(texts, ["0", "0.5", "200", "12.5k", "3.2M", "1e9", "2e−5", "−12.5k"]);
});

test("ticks of large steps are whole, and told apart by all their digits", () => {
  const low = 9007199254740001;
  const { tickvals, ticktext } = ticksWithin("linear", [low, low + 99]);
  assert.deepEqual(tickvals.map(Number.isInteger), [true, true, true, true, true]);
  assert.deepEqual(ticktext, tickvals.map(String));
  assert.deepEqual(ticksWithin("linear", [0, 4e9]).ticktext, ["0", "1e9", "2e9", "3e9", "4e9"]);
  assert.equal(ticksWithin("linear", [1_000_000, 1_000_001]).ticktext.at(-1), "1.000001M");
});

test("a constant stands in the middle of an axis of its own size", () => {
  const { range, tickvals } = ticksFor("linear", [[0.001, 0.001]]);
  assert.ok(range[0] > 0.0008 && range[1] < 0.0012);
  assert.ok(tickvals[0] <= 0.0009 && tickvals[tickvals.length - 1] >= 0.0011);
  assert.deepEqual(ticksFor("linear", [[0, 0]]).tickvals, [-1, -0.5, 0, 0.5, 1]);
});

test("both ends of an axis are labelled and hold all values", () => {
  const linear = ticksFor("linear", [[0.07, 0.62, NaN]]);
  assert.deepEqual(linear.tickvals, [0, 0.2, 0.4, 0.6, 0.8]);
  assert.ok(linear.range[0] < 0 && linear.range[1] > 0.8);
  const log = ticksFor("log", [[0.3, 40, 0, -1]]);
  assert.deepEqual(log.ticktext, ["0.2", "0.5", "1", "2", "5", "10", "20", "50"]);
  assert.deepEqual(ticksFor("log", [[1, 1e6]]).ticktext, ["1", "100", "10k", "1M"]);
  assert.equal(ticksFor("log", [[0, -1]]), null);
});

test("a range that somebody chose has its ticks inside", () => {
  assert.deepEqual(ticksWithin("linear", [0.1, 0.9]).tickvals, [0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(ticksWithin("log", [3, 400]).tickvals, [5, 10, 20, 50, 100, 200]);
});

test("an axis of relative time names its unit", () => {
  assert.deepEqual(durationTicks([0, 72]).ticktext, ["0 s", "15 s", "30 s", "45 s", "60 s"]);
  assert.deepEqual(durationTicks([0, 7200]), {
    tickvals: [0, 1800, 3600, 5400, 7200],
    ticktext: ["0 min", "30 min", "60 min", "90 min", "120 min"],
  });
  assert.deepEqual(durationTicks([-3600, 4 * 3600]).ticktext, ["−1 h", "0 h", "1 h", "2 h", "3 h", "4 h"]);
  assert.deepEqual(durationTicks([0, 0.8]).ticktext.at(-1), "0.8 s");
});

const lines = (...columns) =>
  columns.map((values, i) => ({ label: `run${i}`, curve: { value: Float64Array.from(values) } }));

test("a run that leaves the others behind does not flatten them", () => {
  const calm = [[2, 1], [2.2, 1.1], [2.1, 0.9], [2, 1.1]]; // prettier-ignore
  const { above, below, range } = divergence(lines(...calm, [2, 60]));
  assert.deepEqual([above.map(({ label }) => label), below, range], [["run4"], [], [0.9, 2.2]]);
  assert.deepEqual(
    divergence(lines(...calm, [2, -60])).below.map(({ label }) => label),
    ["run4"],
  );
});

test("several runs that diverge about as far are all left outside", () => {
  const many = lines(...Array(20).fill([2, 1]), [2, 60], [2, 70], [2, 65], [2, 62]);
  const found = divergence(many);
  assert.equal(found.above.length, 4);
  assert.deepEqual(found.range, [1, 2]);
  assert.equal(
    divergence(lines(...Array(8).fill([2, 1]), [2, 60], [2, 70], [2, 65])),
    null,
    "too many of them",
  );
});

test("runs that end in NaN may be more than one in five", () => {
  const exploded = Array.from({ length: 3 }, (_, i) => [2, 60 + i, NaN]);
  const found = divergence(lines(...Array(7).fill([2, 1]), ...exploded));
  assert.equal(found.above.length, 3);
  assert.deepEqual(found.range, [1, 2]);
  const half = Array.from({ length: 6 }, (_, i) => [2, 60 + i, NaN]);
  assert.equal(divergence(lines(...Array(5).fill([2, 1]), ...half)), null);
});

test("runs of other sizes, of constants, or of two kinds are no divergence", () => {
  assert.equal(divergence(lines([2, 1], [2, 60])), null);
  assert.equal(divergence(lines(...Array(4).fill([0.1, 0.1]), [0.01, 0.01])), null);
  assert.equal(divergence(lines(...Array(4).fill([2, 1]), [50, 51])), null);
  assert.equal(divergence(lines(...Array(3).fill([2, 1]), [2, 60], [2, 70])), null);
  assert.equal(divergence(lines(...Array(4).fill([2, NaN]), [2.1, 1])), null);
});

test("of four runs the one that learned is not clipped, and smoothed constants are constants", () => {
  assert.equal(divergence(lines([0.1, 0.12], [0.1, 0.12], [0.1, 0.12], [0.1, 0.9])), null);
  const noisy = [0.003, 0.003 + 5e-16];
  assert.ok(noisy[1] > noisy[0]);
  assert.equal(divergence(lines(...Array(4).fill(noisy), [0.03, 0.03 + 1e-14])), null);
});

test("an axis of any numbers ends, holds them and has finite ticks", () => {
  const sizes = [
    0,
    5e-324,
    1e-320,
    2.3e-308,
    1e-9,
    1,
    1 + 2 ** -52,
    3,
    1e16,
    1e300,
    1.7e308,
    Number.MAX_VALUE,
  ];
  const values = [...sizes, ...sizes.map((size) => -size), NaN, Infinity, -Infinity];
  for (const kind of /** @type {const} */ (["linear", "log"])) {
    for (const low of values) {
      for (const high of values) {
        ticksWithin(kind, [low, high]);
        const ticks = ticksFor(kind, [[low, high]]);
        if (!ticks) continue;
        assert.ok([...ticks.range, ...ticks.tickvals].every(Number.isFinite), `${kind} ${low} ${high}`);
        assert.ok(ticks.tickvals.length <= 40);
        for (const value of [low, high]) {
          const drawn = Number.isFinite(value) && (kind === "linear" || value > 0);
          assert.ok(!drawn || (ticks.range[0] <= value && value <= ticks.range[1]), `${kind} ${low} ${high}`);
        }
      }
    }
  }
});

test("times on an axis are those of the preferred zone, which the first tick names", () => {
  writeNumbers({ digits: null, scientific: false, utc: true });
  const noon = Date.UTC(2026, 10, 26, 12, 0, 0) / 1000;
  const { tickvals, ticktext } = timeTicks([noon - 7000, noon + 7000]);
  assert.deepEqual(ticktext, ["11:00<br>2026-11-26 UTC", "12:00", "13:00"]);
  assert.deepEqual(
    tickvals,
    [noon - 3600, noon, noon + 3600].map((unix) => 1000 * unix),
  );
  const midnight = timeTicks([noon, noon + 2 * 86_400]);
  assert.deepEqual(midnight.ticktext.slice(0, 3), [
    "12:00<br>2026-11-26 UTC",
    "00:00<br>2026-11-27",
    "12:00",
  ]);
  assert.deepEqual(timeTicks([noon, noon]).ticktext, ["12:00:00<br>2026-11-26 UTC"]);
  assert.deepEqual(timeTicks([noon, noon + 3e6]).ticktext[0], "2026-12-03<br>UTC");
  assert.deepEqual(timeTicks(undefined).tickvals, []);
  writeNumbers({ digits: null, scientific: false });
  const zone = -new Date(1000 * noon).getTimezoneOffset();
  assert.equal(zoneName(noon) === "UTC", zone === 0);
  assert.equal(plotTime(noon), 1000 * noon + 60_000 * zone);
});

test("denormal numbers have an axis whose pixels can be computed", () => {
  for (const column of [
    [1e-310, 7e-310],
    [5e-324, 5e-324],
    [-1e-310, 1e-310],
  ]) {
    const { range } = ticksFor("linear", [column]);
    assert.ok(Number.isFinite(1e4 / (range[1] - range[0])));
    assert.ok(range[0] <= column[0] && column[1] <= range[1]);
  }
});
