import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyText } from "../../web/mindinsight/web/static/js/components/dump/value_window.js";

const app = /** @type {any} */ ({ t: (key, { n, nans } = {}) => `${key} ${n} ${nans}` });

test("a histogram without a bar says what the values are", () => {
  assert.match(emptyText(app, { elements: 0, nans: 0 }), /values.none /);
  assert.match(emptyText(app, { elements: 3, nans: 3 }), /all_nan 3/);
  assert.match(emptyText(app, { elements: 3, nans: 0 }), /all_infinite 3/);
  assert.match(emptyText(app, { elements: 3, nans: 2 }), /none_finite 3 2/);
});
