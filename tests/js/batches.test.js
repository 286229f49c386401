// Queue of requests: at most so many under way, in their order, together where they are alike, and none that
// nobody wants any more.

import assert from "node:assert/strict";
import test from "node:test";
import { batches } from "../../web/mindinsight/web/static/js/core/batches.js";

/** Requests that end when they are told to, by their items. */
function requests() {
  /** @type {string[]} */
  const begun = [];
  /** @type {Record<string, {answer: () => void, reject: (error: Error) => void, signal: AbortSignal}>} */
  const ends = {};
  /** @param {string} key @param {string[]} items @param {AbortSignal} signal @returns {Promise<string[]>} */
  const send = (key, items, signal) => {
    const name = key + items.join("");
    begun.push(name);
    return new Promise((resolve, reject) => {
      ends[name] = { answer: () => resolve(items.map((item) => item.toUpperCase())), reject, signal };
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
  return { begun, ends, send };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));
const { signal } = new AbortController();

test("what waits goes together with what is alike, in its order", async () => {
  const { begun, ends, send } = requests();
  const ask = batches(2, 3, send);
  const answers = [..."abcdefg"].map((item) => ask(item === "d" ? "other:" : ":", item, signal));
  assert.deepEqual(begun, [":a", ":b"]);
  ends[":b"].answer();
  assert.equal(await answers[1], "B");
  await settle();
  ends[":a"].answer();
  await settle();
  assert.deepEqual(begun, [":a", ":b", ":cef", "other:d"]);
  ends[":cef"].answer();
  assert.deepEqual(await Promise.all([answers[2], answers[4], answers[5]]), ["C", "E", "F"]);
  await settle();
  assert.deepEqual(begun.slice(4), [":g"]);
});

test("an error of several is asked for again one by one, and frees a place like an answer", async () => {
  const { begun, ends, send } = requests();
  const ask = batches(1, 9, send);
  const [first, ...others] = [..."abc"].map((item) => ask(":", item, signal));
  ends[":a"].reject(new Error("gone"));
  await assert.rejects(first, /gone/);
  await settle();
  ends[":bc"].reject(new Error("one of them"));
  await settle();
  ends[":b"].reject(new Error("b"));
  await assert.rejects(others[0], /b/);
  await settle();
  ends[":c"].answer();
  assert.equal(await others[1], "C");
  assert.deepEqual(begun, [":a", ":bc", ":b", ":c"]);
});

test("a request that is aborted while it waits is never made", async () => {
  const { begun, ends, send } = requests();
  const ask = batches(1, 1, send);
  const dropped = new AbortController();
  const first = ask(":", "a", signal);
  const second = ask(":", "b", dropped.signal);
  const third = ask(":", "c", signal);
  dropped.abort();
  await assert.rejects(second, { name: "AbortError" });
  ends[":a"].answer();
  await first;
  await settle();
  assert.deepEqual(begun, [":a", ":c"]);
  await assert.rejects(ask(":", "d", dropped.signal), { name: "AbortError" });
  ends[":c"].answer();
  assert.equal(await third, "C");
});

test("a request of several is aborted when nobody wants any of them", async () => {
  const { ends, send } = requests();
  const ask = batches(1, 9, send);
  const controllers = [new AbortController(), new AbortController()];
  const first = ask(":", "a", signal);
  const waiting = controllers.map((controller, at) => ask(":", "bc"[at], controller.signal));
  ends[":a"].answer();
  await first;
  await settle();
  controllers[0].abort();
  assert.equal(ends[":bc"].signal.aborted, false);
  controllers[1].abort();
  assert.equal(ends[":bc"].signal.aborted, true);
  for (const answer of waiting) await assert.rejects(answer, { name: "AbortError" });
});

test("items that come within the time to gather go in one request", async () => {
  const { begun, ends, send } = requests();
  const ask = batches(1, 9, send, 5);
  const answers = [ask(":", "a", signal)];
  await settle();
  answers.push(ask(":", "b", signal));
  assert.deepEqual(begun, []);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(begun, [":ab"]);
  ends[":ab"].answer();
  assert.deepEqual(await Promise.all(answers), ["A", "B"]);
});
