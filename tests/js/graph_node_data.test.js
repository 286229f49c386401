import assert from "node:assert/strict";
import { test } from "node:test";

import { greatestWithin, parseValues } from "../../web/mindinsight/web/static/js/views/graph/node_data.js";

const entries = (text) => [...parseValues(text)];

test("values are read from JSON of one's own and of Model Explorer", () => {
  assert.deepEqual(entries('{"a/b": 1.5, "c": -2, "d": "x", "e": null}'), [
    ["a/b", 1.5],
    ["c", -2],
  ]);
  assert.deepEqual(entries('{"results": {"a": {"value": 3}, "b": {"value": "no"}}}'), [["a", 3]]);
  assert.deepEqual(entries('{"main": {"results": {"a": {"value": 4}}}}'), [["a", 4]]);
});

test("values are read from lines, with commas in paths, quotes and a head", () => {
  const text = 'path,value\n"a,b",1\nc\t2e-3\n\nd,\n,5\n';
  assert.deepEqual(entries(text), [
    ["a,b", 1],
    ["c", 0.002],
  ]);
});

test("what is no JSON is an error, and an empty file has no values", () => {
  assert.throws(() => parseValues("{"));
  assert.deepEqual(entries(""), []);
});

test("a box has the greatest value in it", () => {
  const columns = { indices: [2, 5, 6], values: [-3, 4, 1] };
  assert.equal(greatestWithin(columns, { id: 1, end: 6 }), 4);
  assert.equal(greatestWithin(columns, { id: 1, end: 3 }), -3);
  assert.equal(greatestWithin(columns, { id: 7, end: 9 }), null);
});
