import assert from "node:assert/strict";
import { test } from "node:test";

import {
  countWithin,
  firstFrom,
  holding,
} from "../../web/mindinsight/web/static/js/components/graph/index_ranges.js";
import { scaled, sentence } from "../../web/mindinsight/web/static/js/views/graph/model_card.js";
import { around } from "../../web/mindinsight/web/static/js/components/graph/marking.js";
import { readState, writeState } from "../../web/mindinsight/web/static/js/views/graph/single_state.js";
import { hiddenTitles } from "../../web/mindinsight/web/static/js/components/graph/title_bar.js";

const boxes = [
  { id: 1, end: 9, open: true, x: 0, y: 0, w: 100, h: 900 },
  { id: 2, end: 6, open: true, x: 10, y: 40, w: 80, h: 400 },
  { id: 6, end: 9, open: false, x: 10, y: 500, w: 80, h: 30 },
];

test("a box holds the indices from its own to its end", () => {
  assert.equal(firstFrom([2, 5, 6], 5), 1);
  assert.equal(firstFrom([], 5), 0);
  assert.equal(countWithin([2, 5, 6, 9], { id: 2, end: 6 }), 2);
  assert.deepEqual(
    holding(boxes, [7]).map((box) => box.id),
    [1, 6],
  );
  assert.deepEqual(holding(boxes, [9, 10]), []);
});

test("boxes are gathered in one rectangle", () => {
  assert.deepEqual(around(boxes.slice(1)), { x: 10, y: 40, w: 80, h: 490 });
});

test("numbers have three digits and a prefix", () => {
  assert.deepEqual(
    [0, 999, 1000, 12_600_000, 999_600, 4.83e9].map((value) => scaled(value)),
    ["0", "999", "1.00 k", "12.6 M", "1.00 M", "4.83 G"],
  );
});

test("a network is one sentence", () => {
  const part = (label, kind = "scope", inside = []) => ({ label, kind, inside });
  const block = [part("attention"), part("Add-op1", "operator"), part("mlp")];
  assert.equal(
    sentence([part("wte"), part("24 × Block", "repeat", block), part("head")]),
    "wte → 24 × Block {attention, mlp} → head",
  );
  assert.equal(sentence([]), "");
});

test("titles above the view of scopes that are in it are shown over the drawing", () => {
  const ids = (transform) => hiddenTitles(boxes, transform, 100).map((box) => box.id);
  assert.deepEqual(ids({ x: 0, y: 0, k: 1 }), []);
  assert.deepEqual(ids({ x: 0, y: -50, k: 1 }), [1, 2]);
  assert.deepEqual(ids({ x: 0, y: -400, k: 1 }), [1]); // the inner one has all but left
  assert.deepEqual(ids({ x: 300, y: -50, k: 1 }), []);
});

function addressOf(query) {
  const params = new URLSearchParams(query);
  return {
    get: (key, fallback = null) => params.get(key) ?? fallback,
    set: (values) =>
      Object.entries(values).forEach(([key, value]) =>
        value === null ? params.delete(key) : params.set(key, value),
      ),
    text: () => String(params),
  };
}

test("nobody chose a view: the server does, and the address is silent until nodes are numbered", () => {
  const url = addressOf("run=./a");
  const state = readState(url);
  assert.equal(state.view, null);
  Object.assign(state, { view: "simplified", tag: "t", open: [1] });
  writeState(url, state, false);
  assert.equal(url.text(), "run=.%2Fa&tag=t");
  writeState(url, { ...state, node: 3 }, false);
  assert.equal(url.text(), "run=.%2Fa&tag=t&view=simplified&node=3");
});

test("numbers in links from before there was a default view are those of the recorded graph", () => {
  assert.equal(readState(addressOf("run=a&node=7")).view, "recorded");
  assert.equal(readState(addressOf("run=a&open=1,2")).view, "recorded");
  assert.equal(readState(addressOf("run=a&node=7&view=dataset")).view, "dataset");
});
