import assert from "node:assert/strict";
import { test } from "node:test";

import { badgeOf } from "../../web/mindinsight/web/static/js/components/graph/badges.js";
import { counterpart } from "../../web/mindinsight/web/static/js/views/graph/counterpart.js";
import { spoken } from "../../web/mindinsight/web/static/js/components/graph/shapes.js";
import { tagLabel } from "../../web/mindinsight/web/static/js/views/graph/chooser.js";
import { standIn } from "../../web/mindinsight/web/static/js/views/graph/pair_requests.js";
import { readState, writeState } from "../../web/mindinsight/web/static/js/views/graph/pair_state.js";

const t = (key, vars) => (vars?.n === undefined ? key : `${key}(${vars.n})`);
const box = { count: 0, state: "changed", changed: 1, only: 0, missing: 0 };

test("what is the same has no badge", () => {
  assert.equal(badgeOf({ ...box, state: "same", changed: 0 }, "left", t), null);
});

test("an operator has a sign, a scope how many there are of each", () => {
  assert.deepEqual(badgeOf(box, "left", t), { kind: "changed", text: "≠", label: "graph.pair.changed" });
  const scope = { count: 5, state: "changed", changed: 3, only: 2, missing: 1 };
  assert.equal(badgeOf(scope, "left", t).text, "≠3 ◧2 ◨1");
  assert.equal(
    badgeOf(scope, "left", t).label,
    "graph.within.changed(3), graph.within.left(2), graph.within.right(1)",
  );
});

test("both graphs say the same of a pair of scopes", () => {
  const scope = { count: 5, state: "changed", changed: 3, only: 2, missing: 1 };
  const partner = { ...scope, only: 1, missing: 2 };
  assert.deepEqual(badgeOf(scope, "left", t), badgeOf(partner, "right", t));
});

test("what is in one graph only says in which", () => {
  const only = { ...box, state: "only", changed: 0, only: 1 };
  assert.equal(badgeOf(only, "left", t).text, "◧");
  assert.equal(badgeOf(only, "right", t).label, "graph.pair.right");
});

test("a screen reader hears the badge", () => {
  const label = spoken(
    {
      label: "Add-op0",
      kind: "operator",
      type: "Add",
      text: "",
      count: 0,
      open: false,
      badge: badgeOf(box, "left", t),
    },
    t,
  );
  assert.equal(label, "Add-op0, graph.kind.operator, Add, graph.pair.changed");
});

const runs = [
  { id: "a", job: "a", rank: null },
  { id: "j/1", job: "j", rank: 1 },
  { id: "j/0", job: "j", rank: 0 },
  { id: "j/2", job: "j", rank: 2 },
];

test("another graph of the run comes before other ranks and other runs", () => {
  assert.deepEqual(counterpart(runs, { run: "a", tag: "x.pb" }, ["x.pb", "y.pb"]), { run: "a", tag: "y.pb" });
  assert.deepEqual(counterpart(runs, { run: "j/1", tag: "x.pb" }, ["x.pb"]), { run: "j/0", tag: "" });
  assert.deepEqual(counterpart(runs, { run: "j/0", tag: "" }, []), { run: "j/1", tag: "" });
  assert.deepEqual(counterpart(runs, { run: "a", tag: "" }, []), { run: "j/1", tag: "" });
});

test("a run without any other is laid beside itself", () => {
  assert.deepEqual(counterpart(runs.slice(0, 1), { run: "a", tag: "x.pb" }, ["x.pb"]), { run: "a", tag: "" });
});

/** An address in memory. */
function addressOf(text) {
  const values = new Map(new URLSearchParams(text));
  return {
    values,
    get: (key, fallback = null) => values.get(key) ?? fallback,
    set: (changes) =>
      Object.entries(changes).forEach(([key, value]) =>
        value === null || value === "" ? values.delete(key) : values.set(key, String(value)),
      ),
  };
}

test("the address holds the pair and what is open", () => {
  const url = addressOf("m=compare&run=./a&tag=x&run2=./b&tag2=y&view=simplified&open=1,5&open2=9&node2=9");
  const before = Object.fromEntries(url.values);
  const state = readState(url);
  assert.deepEqual(state, {
    sides: [
      { run: "./a", tag: "x" },
      { run: "./b", tag: "y" },
    ],
    view: "simplified",
    open: [1, 5],
    open2: [9],
    node: null,
    node2: 9,
  });
  writeState(url, state);
  assert.deepEqual(Object.fromEntries(url.values), before);
});

test("runs may be named without the directory", () => {
  const named = readState(addressOf("m=compare&run=a&run2=sweep/b")).sides.map(({ run }) => run);
  assert.deepEqual(named, ["./a", "./sweep/b"]);
  assert.equal(readState(addressOf("m=compare")).sides[0].run, "");
});

test("nothing is said of what is as at first, and all closed is not the same", () => {
  const url = addressOf("m=compare&run=a&run2=a&open=1&open2=2&view=nonsense");
  writeState(url, { ...readState(url), open: null });
  assert.deepEqual([...url.values.keys()], ["m", "run", "run2"]);
  writeState(url, { ...readState(url), open: [], open2: [] });
  assert.equal(url.get("open"), "0");
});

test("a graph of an event file is named by the time at which the file began", () => {
  const app = { format: { time: (seconds) => `time ${seconds}` } };
  assert.equal(tagLabel(app, "events.out.events.summary.1795966431.0.vm_MS"), "time 1795966431");
  assert.equal(tagLabel(app, "rank/events.out.events.summary.1795966431.0.vm_MS"), "time 1795966431");
  assert.equal(tagLabel(app, "events.pb"), "events.pb");
});

const drawn = (...boxes) => ({ boxes: () => boxes });
const around = (id, partner) => ({ id, partner, x: 10 * id, y: 20 * id, w: 100, h: 40 });

test("a node of one graph stands in the scope around it in the other", () => {
  const left = drawn(around(1, 2), around(5, 6));
  const right = drawn(around(2, 1), around(6, 5), around(7, null));
  const pair = { left: null, right: { id: 7 }, around: { left: [], right: [2, 6] } };
  assert.deepEqual(standIn([left, right], pair, 1), { id: 5, point: { x: 60, y: 40 } });
});

test("without a scope that both graphs have drawn it stands nowhere", () => {
  const left = drawn(around(1, null));
  const right = drawn(around(2, 1), around(7, null));
  const closed = { left: null, right: { id: 7 }, around: { left: [], right: [6] } };
  assert.equal(standIn([left, right], closed, 1), null);
  assert.equal(standIn([drawn(), drawn()], { ...closed, around: { left: [], right: [2] } }, 1), null);
});
