import assert from "node:assert/strict";
import { test } from "node:test";

import {
  awayFromMedian,
  folded,
  notFiniteRows,
  usualMost,
} from "../../web/mindinsight/web/static/js/views/scalar/rank_distance.js";

const grid = (rows) => ({
  ranks: rows.map((_, rank) => rank),
  step: rows[0].map((_, step) => step),
  mean: Float32Array.from(rows.flat()),
});

test("each step has its own median", () => {
  assert.deepEqual(
    [
      ...awayFromMedian(
        grid([
          [1, 10],
          [2, 20],
          [4, 90],
        ]),
      ),
    ],
    [-1, -10, 0, 0, 2, 70],
  );
});

test("what is not finite does not move the median, and stays what it is", () => {
  assert.deepEqual([...awayFromMedian(grid([[1], [NaN], [3], [Infinity], [5]]))], [-2, NaN, 0, Infinity, 2]);
  assert.deepEqual([...awayFromMedian(grid([[NaN], [NaN]]))], [NaN, NaN]);
});

test("a few far cells do not take the colours from all others", () => {
  const away = new Float32Array(10_000).map((_, i) => (i % 2 ? 0.5 : -1));
  away[77] = 1e9;
  assert.equal(usualMost(away), 1);
  assert.equal(usualMost(new Float32Array(10)), 1);
  assert.equal(usualMost(Float32Array.of(NaN, Infinity)), 1);
});

test("with room for all, each rank has its row", () => {
  const { names, z, rankOf: ranks } = folded(Float32Array.of(1, 2, 3, 4), [0, 8], 2, 100);
  assert.deepEqual(
    [names, z.map((row) => [...row]), ranks],
    [
      ["0", "8"],
      [
        [1, 2],
        [3, 4],
      ],
      [
        [0, 0],
        [8, 8],
      ],
    ],
  );
});

test("one that strays among a thousand is in the picture, with its name", () => {
  const ranks = Array.from({ length: 1000 }, (_, i) => i);
  const away = new Float32Array(2000).fill(0.01);
  away[2 * 567 + 1] = -9;
  const { names, z, rankOf } = folded(away, ranks, 2, 100);
  assert.equal(z.length, 100);
  assert.deepEqual([...z[56]], [Math.fround(0.01), -9]);
  assert.equal(rankOf[56][1], 567);
  assert.equal(names[56], "560–569");
});

test("cells that are not finite are marked in the rows of the picture", () => {
  const z = notFiniteRows([1, 6, 7], 4, 2, 2); // rank 0 at column 1, rank 3 at both
  assert.deepEqual(
    z.map((row) => [...row]),
    [
      [NaN, 1],
      [1, 1],
    ],
  );
});

test("a hole is where no rank of a row has a value", () => {
  const { z, rankOf } = folded(Float32Array.of(NaN, NaN, 5, NaN), [3, 8], 2, 1);
  assert.deepEqual(
    [[...z[0]], rankOf[0]],
    [
      [5, NaN],
      [8, 3],
    ],
  );
});

test("a row is named after its first and last rank, also where the last has fewer ranks", () => {
  const ranks = Array.from({ length: 10 }, (_, i) => i);
  const { names, rankOf } = folded(new Float32Array(10).fill(1), ranks, 1, 3);
  assert.deepEqual(names, ["0–3", "4–7", "8–9"]);
  assert.equal(rankOf[2][0], 8);
});
