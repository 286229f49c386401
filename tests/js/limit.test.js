// Queue of requests: at most so many under way, in their order, and none that nobody wants any more.

import assert from "node:assert/strict";
import test from "node:test";
import { limit } from "../../web/mindinsight/web/static/js/core/limit.js";

/** Requests that end when they are told to. */
function requests() {
  /** @type {string[]} */
  const begun = [];
  /** @type {Record<string, {resolve: (answer: string) => void, reject: (error: Error) => void}>} */
  const ends = {};
  /** @param {string} name @returns {() => Promise<string>} */
  const make = (name) => () => {
    begun.push(name);
    return new Promise((resolve, reject) => (ends[name] = { resolve, reject }));
  };
  return { begun, ends, make };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

test("requests wait for their turn, and an error frees a place like an answer", async () => {
  const { begun, ends, make } = requests();
  const run = limit(2);
  const { signal } = new AbortController();
  const answers = ["a", "b", "c", "d"].map((name) => run(make(name), signal));
  assert.deepEqual(begun, ["a", "b"]);
  ends.b.resolve("B");
  assert.equal(await answers[1], "B");
  await settle();
  assert.deepEqual(begun, ["a", "b", "c"]);
  ends.a.reject(new Error("gone"));
  await assert.rejects(answers[0], /gone/);
  await settle();
  assert.deepEqual(begun, ["a", "b", "c", "d"]);
});

test("a request that is aborted while it waits is never made", async () => {
  const { begun, ends, make } = requests();
  const run = limit(1);
  const kept = new AbortController();
  const dropped = new AbortController();
  const first = run(make("first"), kept.signal);
  const second = run(make("second"), dropped.signal);
  const third = run(make("third"), kept.signal);
  dropped.abort();
  await assert.rejects(second, { name: "AbortError" });
  ends.first.resolve("");
  await first;
  await settle();
  assert.deepEqual(begun, ["first", "third"]);
  await assert.rejects(run(make("late"), dropped.signal), { name: "AbortError" });
  ends.third.resolve("");
  assert.equal(await third, "");
});
