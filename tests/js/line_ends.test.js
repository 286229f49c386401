import assert from "node:assert/strict";
import { test } from "node:test";

import { endLabels } from "../../web/mindinsight/web/static/js/views/scalar/line_ends.js";

const curve = (meta, y, more = {}) => ({
  mode: "lines",
  opacity: 1,
  meta,
  name: meta,
  x: y.map((_, i) => i),
  y,
  line: { color: `of ${meta}` },
  ...more,
});
const axes = { x: [0, 3], y: [0, 10], log: false };

test("the name stands at the last finite point, on the side where there is room", () => {
  const traces = [
    curve("a", [1, 2, 3, 4]),
    curve("b", [9, 9.5, NaN, NaN]),
    curve("a", [0, 0], { opacity: 0.2 }),
  ];
  const names = endLabels(traces, axes, 11).map(({ x, y, text, xanchor, yanchor }) => [
    x,
    y,
    text,
    xanchor,
    yanchor,
  ]);
  assert.deepEqual(names, [
    [3, 4, "a", "right", "bottom"],
    [1, 9.5, "b", "left", "top"],
  ]);
});

test("names that would touch, are too long or too many are left out", () => {
  const texts = (traces) => endLabels(traces, axes, 11).map(({ text }) => text);
  assert.deepEqual(texts([curve("a", [5]), curve("b", [5.5]), curve("c", [8])]), ["c"]);
  assert.deepEqual(texts([curve("a", [5]), curve("b".repeat(40), [8])]), ["a"]);
  assert.deepEqual(texts([curve("a", [5])]), []);
  assert.deepEqual(texts(["a", "b", "c", "d", "e", "f"].map((name, i) => curve(name, [i * 2]))), []);
  assert.deepEqual(texts([curve("a", [5]), curve("b", [NaN]), curve("c", [99])]), ["a"]);
});

test("on a logarithmic axis the place is a logarithm, as Plotly has it", () => {
  const [name] = endLabels([curve("a", [100]), curve("b", [1])], { x: [0, 1], y: [-1, 3], log: true }, 11);
  assert.equal(name.y, 2);
});
