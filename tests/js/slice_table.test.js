import assert from "node:assert/strict";
import { test } from "node:test";

import { elementText, text } from "../../web/mindinsight/web/static/js/components/slice_table.js";

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
