import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyText, lookAt } from "../../web/mindinsight/web/static/js/components/dump/value_window.js";

const app = /** @type {any} */ ({ t: (key, { n, nans } = {}) => `${key} ${n} ${nans}` });

test("a histogram without a bar says what the values are", () => {
  assert.match(emptyText(app, { elements: 0, nans: 0 }), /values.none /);
  assert.match(emptyText(app, { elements: 3, nans: 3 }), /all_nan 3/);
  assert.match(emptyText(app, { elements: 3, nans: 0 }), /all_infinite 3/);
  assert.match(emptyText(app, { elements: 3, nans: 2 }), /none_finite 3 2/);
});

test("the table that has an element begins at a whole window, behind the axes that are fixed", () => {
  const { dims, top, left, cell } = lookAt([3, 1, 405, 7]);
  assert.deepEqual([dims, top, left, cell], ["[3,1,:,:]", 400, 0, [405, 7]]);
  assert.deepEqual(lookAt([250]), { mode: "table", dims: "[:]", top: 200, left: 0, cell: [250, 0] });
  assert.deepEqual([lookAt([]).dims, lookAt([]).cell], ["[]", [0, 0]]);
});
