// Large drawings: what is drawn in detail, and how many open scopes an address names.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  covers,
  detailOf,
  isLarge,
} from "../../web/mindinsight/web/static/js/components/graph/level_of_detail.js";
import { drawnText } from "../../web/mindinsight/web/static/js/views/graph/scopes.js";
import { scopesText } from "../../web/mindinsight/web/static/js/views/graph/single_state.js";

/** A scope with operators in a grid, each with a line to the next. @param {number} count */
function grid(count) {
  const boxes = /** @type {any[]} */ ([{ id: 1, parent: 0, x: 0, y: 0, w: 20_000, h: 20_000, open: true }]);
  for (let i = 0; i < count; i++) {
    const [x, y] = [100 * (i % 100), 100 * Math.floor(i / 100)];
    boxes.push({ id: i + 2, parent: 1, x, y, w: 80, h: 30, open: false });
  }
  const lines = boxes
    .slice(2)
    .map(({ id, x, y }) => ({ source: id - 1, target: id, points: [x, y, x, y + 9] }));
  return /** @type {any} */ ({ width: 20_000, height: 20_000, boxes, lines, open: [1] });
}

test("what is in sight is drawn in detail, with the scopes around it", () => {
  const picture = grid(5000);
  assert.ok(isLarge(picture) && !isLarge(grid(700)));
  const sight = { x: 1000, y: 1000, w: 1000, h: 500 };
  const { picture: part, ids } = detailOf(picture, sight, 1);
  assert.ok(ids.has(1), "the scope around it");
  assert.equal(part.boxes[0].id, 1, "scopes come before what is in them");
  assert.ok(part.boxes.length > 50 && part.boxes.length < 300);
  assert.ok(part.boxes.slice(1).every(({ x, y }) => x > 500 && x < 2500 && y > 700 && y < 1800));
  assert.ok(part.lines.every(({ source, target }) => ids.has(source) && ids.has(target)));
  assert.ok(part.lines.length > 50);
});

test("from far away only large boxes have shapes, and never too many", () => {
  const picture = grid(10_000);
  const whole = { x: 0, y: 0, w: 20_000, h: 20_000 };
  assert.deepEqual([...detailOf(picture, whole, 0.05).ids], [1], "operators are 4 px wide");
  assert.ok(detailOf(picture, whole, 0.5).picture.boxes.length <= 900);
});

test("a detail serves what lies inside of it at about its scale", () => {
  const detail = detailOf(grid(2000), { x: 1000, y: 1000, w: 1000, h: 500 }, 1);
  assert.ok(covers(detail, { x: 1200, y: 1100, w: 1000, h: 500 }, 1));
  assert.ok(!covers(detail, { x: 1600, y: 1000, w: 1000, h: 500 }, 1));
  assert.ok(!covers(detail, { x: 1200, y: 1100, w: 500, h: 250 }, 2));
});

test("few open scopes are named, of many those that are closed", () => {
  assert.equal(scopesText(new Set([3, 1]), []), "1,3");
  assert.equal(scopesText(new Set(), []), "0");
  const scopes = Array.from({ length: 300 }, (_, i) => ({ id: i + 1, parent: i ? 1 : 0, count: 2 }));
  const inside = { id: 900, parent: 7, count: 2 }; // of a closed one: not seen
  const boxes = /** @type {any[]} */ ([...scopes, inside, { id: 901, parent: 1, count: 0 }]);
  const open = new Set(scopes.map(({ id }) => id).filter((id) => id !== 7));
  assert.equal(scopesText(open, boxes), "all,-7");
  assert.equal(drawnText(boxes.slice(0, 2)), "1,2");
  assert.equal(drawnText(Array.from({ length: 3000 }, () => boxes[0])), "all");
});
