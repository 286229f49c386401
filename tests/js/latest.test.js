import assert from "node:assert/strict";
import { test } from "node:test";

import { Following } from "../../web/mindinsight/web/static/js/core/following.js";
import { latest, leaveAsIs } from "../../web/mindinsight/web/static/js/core/latest.js";

globalThis.window = globalThis;

function question() {
  /** @type {any} */
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

const settled = () => new Promise((done) => setTimeout(done, 0));

test("an answer that comes after a later question is dropped", async () => {
  const asked = latest({ isConnected: true });
  const [first, second] = [question(), question()];
  const taken = [];
  const signals = [];
  const ask = (one) =>
    asked.ask(
      (signal) => (signals.push(signal), one.promise),
      (answer) => taken.push(answer),
    );
  const both = [ask(first), ask(second)];
  assert.deepEqual(
    signals.map((signal) => signal.aborted),
    [true, false],
  );
  second.resolve("newer");
  first.resolve("older");
  await Promise.all(both);
  assert.deepEqual(taken, ["newer"]);
});

test("the failure of a question that nobody waits for any more is no failure", async () => {
  const asked = latest({ isConnected: true });
  const [first, second] = [question(), question()];
  const failures = [];
  const ask = (one) =>
    asked.ask(
      () => one.promise,
      () => {},
      (error) => failures.push(error.message),
    );
  const both = [ask(first), ask(second)];
  first.reject(new Error("older"));
  second.reject(new Error("newer"));
  await Promise.all(both);
  assert.deepEqual(failures, ["newer"]);
});

test("a failure is thrown unless somebody takes it", async () => {
  const asked = latest({ isConnected: true });
  await assert.rejects(
    asked.ask(
      () => Promise.reject(new Error("gone")),
      () => {},
    ),
    /gone/,
  );
  await asked.ask(
    () => Promise.reject(new Error("gone")),
    () => {},
    leaveAsIs,
  );
});

test("what went wrong while taking an answer is not the question's failure", async () => {
  const asked = latest({ isConnected: true });
  const failures = [];
  const wrong = asked.ask(
    () => Promise.resolve(1),
    () => {
      throw new TypeError("ours");
    },
    (error) => failures.push(error),
  );
  await assert.rejects(wrong, TypeError);
  assert.deepEqual(failures, []);
});

test("nothing is taken for a place that has left the page, or after the end", async () => {
  const place = { isConnected: true };
  const asked = latest(place);
  const [first, second] = [question(), question()];
  const taken = [];
  const one = asked.ask(
    () => first.promise,
    (answer) => taken.push(answer),
  );
  place.isConnected = false;
  first.resolve(1);
  await one;
  place.isConnected = true;
  const two = asked.ask(
    () => second.promise,
    (answer) => taken.push(answer),
  );
  asked.end();
  second.resolve(2);
  await two;
  assert.deepEqual(taken, []);
});

test("requests that join each other are taken and dropped together", async () => {
  const requests = latest();
  const questions = [question(), question(), question(), question()];
  const taken = [];
  const join = ({ promise }) =>
    requests.join(
      () => promise,
      (response) => taken.push(response),
    );
  const pending = questions.slice(0, 2).map(join);
  questions[0].resolve("a");
  questions[1].resolve("b");
  await Promise.all(pending);
  const stale = questions.slice(2, 3).map(join);
  requests.end();
  const fresh = questions.slice(3).map(join);
  questions[2].resolve("c");
  questions[3].resolve("d");
  await Promise.all([...stale, ...fresh]);
  assert.deepEqual(taken, ["a", "b", "d"]);
});

test("what is to be called later is not, once another request is made or none is wanted", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const requests = latest();
  let calls = 0;
  const again = () => calls++;
  requests.later(again, 10);
  context.mock.timers.tick(10);
  assert.equal(calls, 1);
  requests.later(again, 10);
  requests.end();
  context.mock.timers.tick(10);
  requests.later(again, 10);
  await requests.ask(
    async () => 1,
    () => {},
  );
  context.mock.timers.tick(10);
  assert.equal(calls, 1);
});

test("what take gives is the answer to whoever asked", async () => {
  assert.equal(
    await latest({ isConnected: true }).ask(
      async () => 2,
      (answer) => answer * 21,
    ),
    42,
  );
});

function run(id, more = {}) {
  return { id, job: id, rank: null, created: 1, ...more };
}

/** Answers of the server, given one by one. */
function server() {
  const asked = [];
  globalThis.fetch = (address) => {
    const one = question();
    asked.push({
      address,
      give: (body) => one.resolve(new Response(JSON.stringify(body))),
      fail: () => one.reject(new TypeError("offline")),
    });
    return one.promise;
  };
  return asked;
}

function following() {
  const listeners = [];
  const told = [];
  const made = new Following({ on: (listener) => listeners.push(listener) }, () =>
    told.push(made.list.runs.map((one) => one.note ?? "")),
  );
  return { made, told, change: (change) => listeners.forEach((listener) => listener(change)) };
}

test("lists of runs come in the order in which they were asked for", async () => {
  const asked = server();
  const { made, told } = following();
  const both = [made.refresh(), made.refresh()];
  await settled();
  assert.equal(asked.length, 1);
  asked[0].give({ runs: [run("./a", { note: "older" })] });
  await both[0];
  await settled();
  asked[1].give({ runs: [run("./a", { note: "newer" })] });
  await both[1];
  assert.deepEqual(told, [["older"], ["newer"]]);
});

test("a list that fails does not stop the next one", async () => {
  const asked = server();
  const { made, told } = following();
  const both = [made.refresh(), made.refresh()];
  await settled();
  asked[0].fail();
  await assert.rejects(both[0], /does not answer/);
  await settled();
  asked[1].give({ runs: [run("./a")] });
  await both[1];
  assert.equal(told.length, 1);
});

test("only runs that changed are fetched, and put among the others", async () => {
  const asked = server();
  const { made, told, change } = following();
  const first = made.refresh();
  await settled();
  asked[0].give({ runs: [run("./a"), run("./b")] });
  await first;
  change({ runs: { "./b": ["scalar"] }, list: false });
  await settled();
  assert.equal(asked[1].address, "v2/runs?run=.%2Fb");
  asked[1].give({ runs: [run("./b", { note: "grown" })] });
  await settled();
  assert.deepEqual(told.at(-1), ["", "grown"]);
});
