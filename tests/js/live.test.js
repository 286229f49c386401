import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { grownRuns, together } from "../../web/mindinsight/web/static/js/core/changes.js";
import { Live } from "../../web/mindinsight/web/static/js/core/live.js";

globalThis.window = globalThis;

class Stream {
  static CLOSED = 2;
  readyState = 1;
  heard = {};

  constructor() {
    Stream.newest = this;
  }

  addEventListener(name, callback) {
    this.heard[name] = callback;
  }

  says(name, data) {
    this.heard[name]({ data: JSON.stringify(data) });
  }
}
globalThis.EventSource = Stream;

let live;
let changes;
beforeEach(() => {
  live = new Live();
  changes = [];
  live.on((change) => changes.push(change));
  live.start();
});

const everything = (version) => ({ version, runs: {}, list: true, everything: true });

test("what came between the first list and the stream is looked for", () => {
  live.begin(5);
  Stream.newest.says("hello", { version: 7 });
  assert.deepEqual(changes, [everything(7)]);
});

test("what came between the stream and an older list is looked for", () => {
  Stream.newest.says("hello", { version: 7 });
  assert.deepEqual(changes, []);
  live.begin(5);
  assert.deepEqual(changes, [everything(7)]);
});

test("a change told before the first list is not taken to be in it", () => {
  Stream.newest.says("hello", { version: 7 });
  Stream.newest.says("change", { version: 8, runs: { "./a": ["scalar"] }, list: false });
  live.begin(7);
  assert.deepEqual(
    changes.map((change) => change.version),
    [8, 8],
  );
  assert.equal(changes[1].everything, true);
});

test("nothing is looked at twice when list and stream agree", () => {
  live.begin(7);
  Stream.newest.says("hello", { version: 7 });
  assert.deepEqual(changes, []);
});

test("a list that could not be had is asked for again when the stream is there", () => {
  live.begin(0);
  Stream.newest.says("hello", { version: 7 });
  assert.deepEqual(changes, [everything(7)]);
});

test("after the stream was away everything is looked at, even at the same version", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  live.begin(7);
  Stream.newest.says("hello", { version: 7 });
  Stream.newest.onerror();
  Stream.newest.says("hello", { version: 7 });
  assert.deepEqual(changes, [everything(7)]);
  Stream.newest.says("hello", { version: 7 });
  assert.equal(changes.length, 1);
});

test("the runs a change concerns", () => {
  const app = { selection: { everything: () => [{ id: "./a" }, { id: "./b" }] } };
  const change = { version: 1, runs: { "./a": ["scalar", "image"], "./c": ["graph"] }, list: false };
  assert.deepEqual(grownRuns(app, change, "image"), ["./a"]);
  assert.deepEqual(grownRuns(app, change, "lineage", "graph"), ["./c"]);
  assert.deepEqual(grownRuns(app, change, "tensor"), []);
  assert.deepEqual(grownRuns(app, everything(1), "tensor"), ["./a", "./b"]);
});

test("changes that wait are kept as one, with all of their kinds", () => {
  const first = { version: 1, runs: { "./a": ["scalar"] }, list: true };
  const second = { version: 2, runs: { "./a": ["image"], "./b": ["graph"] }, list: false };
  assert.deepEqual(together(null, first), { ...first, everything: undefined });
  assert.deepEqual(together(first, second), {
    version: 2,
    runs: { "./a": ["scalar", "image"], "./b": ["graph"] },
    list: true,
    everything: undefined,
  });
  assert.equal(together(everything(1), second).everything, true);
});

test("while it is paused changes are counted and told as one afterwards", () => {
  live.begin(1);
  Stream.newest.says("hello", { version: 1 });
  live.pause();
  Stream.newest.says("change", { version: 2, runs: { "./a": ["scalar"] }, list: false });
  Stream.newest.says("change", { version: 3, runs: { "./a": ["image"], "./b": ["scalar"] }, list: true });
  assert.deepEqual([changes, live.paused(), live.waiting()], [[], true, 2]);
  live.resume();
  assert.deepEqual(changes, [
    {
      version: 3,
      runs: { "./a": ["scalar", "image"], "./b": ["scalar"] },
      list: true,
      everything: undefined,
    },
  ]);
  assert.deepEqual([live.paused(), live.waiting()], [false, 0]);
  Stream.newest.says("change", { version: 4, runs: {}, list: true });
  assert.equal(changes.length, 2);
});

test("nothing is told when nothing came while it was paused", () => {
  live.begin(1);
  live.pause();
  live.resume();
  assert.deepEqual(changes, []);
});

test("a look right now takes what waits, and pausing goes on", () => {
  live.begin(1);
  Stream.newest.says("hello", { version: 1 });
  live.pause();
  Stream.newest.says("change", { version: 2, runs: { "./a": ["scalar"] }, list: false });
  live.lookNow();
  assert.deepEqual(changes, [everything(2)]);
  assert.deepEqual([live.paused(), live.waiting()], [true, 0]);
  live.resume();
  assert.equal(changes.length, 1);
});

test("what is found by asking waits as well, and is counted once", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const answers = [];
  globalThis.fetch = async () => new Response(JSON.stringify({ version: answers.shift() }));
  const round = async (version, wait) => {
    answers.push(version);
    context.mock.timers.tick(wait);
    for (let i = 0; i < 10; i++) await Promise.resolve();
    await new Promise(setImmediate);
  };
  live.begin(5);
  Stream.newest.onerror();
  live.pause();
  await round(6, 1000);
  assert.deepEqual([live.state(), live.waiting()], ["polling", 1]);
  await round(6, 5000);
  assert.equal(live.waiting(), 1);
  await round(8, 5000);
  assert.deepEqual([changes, live.waiting()], [[], 2]);
  live.resume();
  assert.deepEqual(changes, [everything(8)]);
});

test("who watches the state is told of pausing and of what waits", () => {
  const states = [];
  live.onState(() => states.push([live.paused(), live.waiting()]));
  live.begin(1);
  live.pause();
  Stream.newest.says("change", { version: 2, runs: {}, list: true });
  live.resume();
  assert.deepEqual(states, [
    [true, 0],
    [true, 1],
    [false, 0],
  ]);
});

test("what one of several servers told is looked at once more, when the others have read it", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  live.begin(2 ** 40);
  Stream.newest.says("hello", { version: 2 ** 40 });
  const change = { version: 2 ** 40 + 1, runs: { "./a": ["scalar"] }, list: false };
  Stream.newest.says("change", change);
  live.compare(2 ** 40 + 1);
  context.mock.timers.tick(10_000);
  assert.equal(changes.length, 1); // one server
  for (const [other, count] of [
    [2 ** 39, 2],
    [2 ** 41, 2],
  ]) {
    live.compare(other);
    changes.length = 0;
    Stream.newest.says("change", change);
    Stream.newest.says("change", { ...change, runs: { "./b": ["scalar"] } });
    assert.equal(changes.length, count);
    context.mock.timers.tick(10_000);
    assert.deepEqual(Object.keys(changes.at(-1).runs), ["./a", "./b"]);
    assert.equal(changes.length, count + 1);
  }
});

test("changes that come between two refreshes are told as one", () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  live.every(15);
  live.begin(5);
  const grows = (version, run) =>
    Stream.newest.says("change", { version, runs: { [run]: ["scalar"] }, list: false });
  grows(6, "./a");
  grows(7, "./b");
  grows(8, "./c");
  assert.deepEqual(
    changes.map(({ version }) => version),
    [6],
  );
  mock.timers.tick(15_000);
  assert.deepEqual(
    changes.map(({ version }) => version),
    [6, 8],
  );
  assert.deepEqual(Object.keys(changes[1].runs), ["./b", "./c"]);
  grows(9, "./a");
  live.pause();
  mock.timers.tick(15_000);
  assert.equal(changes.length, 2);
  live.resume();
  assert.deepEqual(
    changes.map(({ version }) => version),
    [6, 8, 9],
  );
  mock.timers.reset();
});

test("in the background only those that notify are told; the rest is told when somebody looks again", () => {
  const told = [];
  live.on(
    (change) => told.push(change.version),
    () => true,
  );
  live.begin(1);
  Stream.newest.says("hello", { version: 1 });
  const looks = [];
  globalThis.document = { hidden: true, addEventListener: (_name, callback) => looks.push(callback) };
  live.start();
  Stream.newest.says("change", { version: 2, runs: { "./a": ["scalar"] }, list: false });
  Stream.newest.says("change", { version: 3, runs: { "./b": ["image"] }, list: false });
  assert.deepEqual(changes, []);
  assert.deepEqual(told, [2, 3]);
  globalThis.document.hidden = false;
  looks.forEach((look) => look());
  assert.deepEqual(changes, [
    { version: 3, runs: { "./a": ["scalar"], "./b": ["image"] }, list: false, everything: undefined },
  ]);
  delete globalThis.document;
});

test("a subscriber that throws does not keep a change from the others", () => {
  const log = mock.method(console, "error", () => {});
  const [others, states] = [[], []];
  live.on(() => {
    throw new Error("of the first");
  });
  live.on((change) => others.push(change.version));
  live.onState(() => {
    throw new Error("of a state");
  });
  live.onState((state) => states.push(state));
  live.begin(5);
  Stream.newest.says("hello", { version: 5 });
  Stream.newest.says("change", { version: 6, runs: {}, list: true });
  assert.deepEqual(others, [6]);
  assert.deepEqual(states, ["live"]);
  assert.deepEqual(
    log.mock.calls.map((call) => call.arguments[0].message),
    ["of a state", "of the first"],
  );
  log.mock.restore();
});
