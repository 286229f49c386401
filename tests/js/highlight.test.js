// Charts of many runs: which curves are coloured and named.

import assert from "node:assert/strict";
import { test } from "node:test";

import { highlighted, namedLines } from "../../web/mindinsight/web/static/js/views/scalar/highlight.js";

const app = (colours = null) => ({
  theme: { colour: (name) => name },
  selection: { colouring: { colours: () => colours }, run: (id) => ({ pinned: id === "r7" }) },
});
const lines = (n, value = (i) => i) =>
  Array.from({ length: n }, (_, i) => ({
    label: `r${i}`,
    colour: "#123456",
    dash: "solid",
    curve: { run: `r${i}`, value: Float64Array.of(9, value(i)) },
  }));
const roles = (made) =>
  Object.fromEntries(made.filter(({ role }) => role).map(({ label, role }) => [label, role]));

test("of many runs the best, the worst and the baseline are coloured, and drawn last", () => {
  const made = highlighted(app(), "val/loss", lines(40));
  assert.deepEqual(roles(made), {
    r0: "best",
    r1: "best",
    r2: "best",
    r7: "pinned",
    r38: "worst",
    r39: "worst",
  });
  assert.equal(made.length, 40);
  assert.ok(made.slice(0, 34).every(({ quiet }) => quiet));
  assert.deepEqual(
    namedLines(made, false, 12).map(({ label }) => label),
    ["r0", "r1", "r2", "r7", "r38", "r39"],
  );
  assert.equal(namedLines(made, true, 200).length, 40);
});

test("of an accuracy the highest is best, of another scalar nothing is", () => {
  assert.equal(roles(highlighted(app(), "val/accuracy", lines(40))).r39, "best");
  assert.deepEqual(
    new Set(Object.values(roles(highlighted(app(), "width", lines(40))))),
    new Set(["highest", "lowest", "pinned"]),
  );
});

test("a run that ends in NaN is neither best nor worst", () => {
  const made = roles(
    highlighted(
      app(),
      "loss",
      lines(40, (i) => (i < 2 || i > 37 ? NaN : i)),
    ),
  );
  assert.deepEqual(made, { r2: "best", r3: "best", r4: "best", r7: "pinned", r36: "worst", r37: "worst" });
});

test("few runs, and runs coloured by a setting, stay as they are", () => {
  const few = lines(30);
  assert.equal(highlighted(app(), "loss", few), few);
  const many = lines(40);
  assert.equal(highlighted(app({}), "loss", many), many);
  assert.equal(namedLines(many, false, 12).length, 12);
  assert.equal(namedLines(lines(1), false, 12).length, 0);
});

test("runs are ranked by recorded values, and coloured ones have distinct colours", () => {
  const smoothed = lines(40).map((line, i) => ({
    ...line,
    curve: { ...line.curve, smooth: Float64Array.of(9, 40 - i) },
  }));
  const made = highlighted(app(), "loss", smoothed);
  assert.equal(roles(made).r0, "best");
  const colours = made.filter(({ role }) => role).map(({ colour }) => colour);
  assert.equal(new Set(colours).size, colours.length);
});
