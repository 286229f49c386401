import assert from "node:assert/strict";
import { test } from "node:test";

import { Following } from "../../web/mindinsight/web/static/js/core/run_list.js";
import { latest, leaveAsIs } from "../../web/mindinsight/web/static/js/core/latest.js";

globalThis.window = globalThis;

function question() {
  /** @type {any} */
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

test("an answer that comes after a later question is dropped", async () => {
  const requests = latest({ isConnected: true });
  const [first, second] = [question(), question()];
  const answers = [];
  const signals = [];
  const ask = (deferred) =>
    requests.ask(
      (signal) => (signals.push(signal), deferred.promise),
      (answer) => answers.push(answer),
    );
  const results = [ask(first), ask(second)];
  assert.deepEqual(
    signals.map((signal) => signal.aborted),
    [true, false],
  );
  second.resolve("newer");
  first.resolve("older");
  await Promise.all(results);
  assert.deepEqual(answers, ["newer"]);
});

test("the failure of a question that nobody waits for any more is no failure", async () => {
  const requests = latest({ isConnected: true });
  const [first, second] = [question(), question()];
  const failures = [];
  const ask = (deferred) =>
    requests.ask(
      () => deferred.promise,
      () => {},
      (error) => failures.push(error.message),
    );
  const results = [ask(first), ask(second)];
  first.reject(new Error("older"));
  second.reject(new Error("newer"));
  await Promise.all(results);
  assert.deepEqual(failures, ["newer"]);
});

test("a failure is thrown unless somebody takes it", async () => {
  const requests = latest({ isConnected: true });
  await assert.rejects(
    requests.ask(
      () => Promise.reject(new Error("gone")),
      () => {},
    ),
    /gone/,
  );
  await requests.ask(
    () => Promise.reject(new Error("gone")),
    () => {},
    leaveAsIs,
  );
});

test("what went wrong while taking an answer is not the question's failure", async () => {
  const requests = latest({ isConnected: true });
  const failures = [];
  const wrong = requests.ask(
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
  const element = { isConnected: true };
  const requests = latest(element);
  const [first, second] = [question(), question()];
  const answers = [];
  const before = requests.ask(
    () => first.promise,
    (answer) => answers.push(answer),
  );
  element.isConnected = false;
  first.resolve(1);
  await before;
  element.isConnected = true;
  const two = requests.ask(
    () => second.promise,
    (answer) => answers.push(answer),
  );
  requests.end();
  second.resolve(2);
  await two;
  assert.deepEqual(answers, []);
});

test("requests that join each other are taken and dropped together", async () => {
  const requests = latest();
  const questions = [question(), question(), question(), question()];
  const answers = [];
  const join = ({ promise }) =>
    requests.join(
      () => promise,
      (response) => answers.push(response),
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
  assert.deepEqual(answers, ["a", "b", "d"]);
});

test("what is to be called later is not, once another request is made or none is wanted", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const requests = latest();
  let calls = 0;
  const call = () => calls++;
  requests.later(call, 10);
  context.mock.timers.tick(10);
  assert.equal(calls, 1);
  requests.later(call, 10);
  requests.end();
  context.mock.timers.tick(10);
  requests.later(call, 10);
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
  const requests = [];
  globalThis.fetch = (address) => {
    const deferred = question();
    requests.push({
      address,
      give: (body) => deferred.resolve(new Response(JSON.stringify(body))),
      fail: () => deferred.reject(new TypeError("offline")),
    });
    return deferred.promise;
  };
  return requests;
}

function following() {
  const listeners = [];
  const notes = [];
  const live = { on: (listener) => listeners.push(listener), compare: () => {} };
  const list = new Following(live, () => notes.push(list.list.runs.map((listed) => listed.note ?? "")));
  return { list, notes, change: (change) => listeners.forEach((listener) => listener(change)) };
}

test("lists of runs come in the order in which they were asked for", async () => {
  const requests = server();
  const { list, notes } = following();
  const results = [list.refresh(), list.refresh()];
  await settled();
  assert.equal(requests.length, 1);
  requests[0].give({ runs: [run("./a", { note: "older" })] });
  await results[0];
  await settled();
  requests[1].give({ runs: [run("./a", { note: "newer" })] });
  await results[1];
  assert.deepEqual(notes, [["older"], ["newer"]]);
});

test("a list that fails does not stop the next one", async () => {
  const requests = server();
  const { list, notes } = following();
  const results = [list.refresh(), list.refresh()];
  await settled();
  requests[0].fail();
  await assert.rejects(results[0], /does not answer/);
  await settled();
  requests[1].give({ runs: [run("./a")] });
  await results[1];
  assert.equal(notes.length, 1);
});

test("only runs that changed are fetched, and put among the others", async () => {
  const requests = server();
  const { list, notes, change } = following();
  const first = list.refresh();
  await settled();
  requests[0].give({ runs: [run("./a"), run("./b")] });
  await first;
  change({ runs: { "./b": ["scalar"] }, list: false });
  await settled();
  assert.equal(requests[1].address, "v2/runs?run=.%2Fb");
  requests[1].give({ runs: [run("./b", { note: "grown" })] });
  await settled();
  assert.deepEqual(notes.at(-1), ["", "grown"]);
});
