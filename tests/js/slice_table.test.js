import assert from "node:assert/strict";
import { test } from "node:test";

import { elementText, text } from "../../web/mindinsight/web/static/js/components/slice_table.js";
import { colourRange } from "../../web/mindinsight/web/static/js/core/ramp.js";

const plain = { digits: 5, scientific: false };

test("a number that is not 0 is not written as 0", () => {
  const texts = [0, 1.001e-42, -0.000004, 0.000005, -1.5, 7].map((value) => text(value, plain));
  assert.deepEqual(texts, ["0", "1.00100e−42", "−4.00000e−6", "0.00001", "−1.50000", "7"]);
});

test("complex elements have both parts, integers beyond 2^53 all digits", () => {
  const complex = { values: [1, 3, NaN], imaginary: [3, -1, 0] };
  assert.deepEqual(
    [0, 1, 2].map((i) => elementText(complex, i, plain)),
    ["1 + 3i", "3 − 1i", "NaN + 0i"],
  );
  const large = { values: [2 ** 53, -(2 ** 53)], exact: ["9007199254740993", "-9007199254740993"] };
  assert.deepEqual(
    [0, 1].map((i) => elementText(large, i, plain)),
    ["9007199254740993", "−9007199254740993"],
  );
});

const normal = Array.from({ length: 400 }, (_, i) => Math.sin(i * i));

test("an outlier leaves the other values their colours, and is counted", () => {
  const { low, high, beyond } = colourRange([...normal, 12345, NaN]);
  assert.ok(low >= -1 && high <= 1 && high - low > 1.9);
  assert.equal(beyond, 1);
});

test("colours span all values that have no outlier, and those of a sparse tensor", () => {
  const few = [1, 2, 3, 400];
  assert.deepEqual(colourRange(few), { low: 1, high: 400, beyond: 0 });
  assert.equal(colourRange(normal).beyond, 0);
  const sparse = [...new Array(95).fill(0), 1, 2, 3, 4, 5];
  assert.deepEqual(colourRange(sparse), { low: 0, high: 5, beyond: 0 });
  assert.equal(colourRange([NaN, Infinity]), null);
});
