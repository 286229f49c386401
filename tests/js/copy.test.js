import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";

import {
  copiedAnswer,
  copiedFile,
  keyOf,
  narrowed,
  useAnswers,
} from "../../web/mindinsight/web/static/js/core/copy.js";

const questions = JSON.parse(readFileSync(new URL("questions.json", import.meta.url), "utf8"));
const series = (query) => keyOf("GET", `v2/scalar/series?tag=loss&${query}`);
const ask = (query) => copiedAnswer(`v2/scalar/series?tag=loss&${query}`, {});

let fetched = [];
beforeEach(() => {
  fetched = [];
  globalThis.fetch = async (address) => {
    fetched.push(address);
    return new Response("{}");
  };
});

test("questions are written as the copy was", () => {
  for (const [method, address, body, key] of questions) assert.equal(keyOf(method, address, body), key);
});

test("an answer about more runs serves, the one about the fewest first", async () => {
  useAnswers({ [series("run=a&run=b&run=c")]: "3.json", [series("run=a&run=b")]: "2.json" });
  assert.ok(await ask("run=b&px=700"));
  assert.ok(await ask("run=c&run=a"));
  assert.equal(await ask("run=d"), null);
  assert.equal(await ask("run=a&x=wall"), null); // another question
  assert.equal(await ask(""), null); // about all runs, which nobody asked
  assert.deepEqual(fetched, ["/2.json", "/3.json"]);
  assert.equal(copiedFile("v2/scalar/series?tag=loss&run=b&run=a"), "/2.json");
  assert.equal(copiedFile("v2/scalar/series?tag=loss&run=b"), ""); // images and links need the very answer
});

test("the median of a job serves for all of its ranks only", async () => {
  useAnswers({
    [series("run=x&run=j/0&run=j/1&fold=j")]: "1.json",
    [series("run=y&run=j/0&run=j/1")]: "2.json",
  });
  assert.ok(await ask("run=x"));
  assert.ok(await ask("run=j/0&run=j/1&fold=j"));
  assert.ok(await ask("run=j/0")); // a rank by itself, of the answer without medians
  assert.equal(await ask("run=j/0&fold=j"), null);
  assert.equal(await ask("run=x&run=j/0"), null);
  assert.deepEqual(fetched, ["/1.json", "/1.json", "/2.json"]);
});

test("what an answer says of other runs is left out", async () => {
  useAnswers({ [series("run=a&run=b")]: "1.json" });
  const answer = {
    tags: [
      { tag: "loss", runs: ["a", "b"] },
      { tag: "only b", runs: ["b"] },
    ],
    series: [
      { run: "a", step: new Float64Array([1, 2]), inherited: [{ run: "b" }] },
      { run: "b", step: new Float64Array([3]) },
    ],
    runs: ["b", "a"],
    n: 2,
  };
  const one = narrowed(await ask("run=a"), answer);
  assert.deepEqual(one.tags, [{ tag: "loss", runs: ["a"] }]);
  assert.deepEqual(
    one.series.map(({ run }) => run),
    ["a"],
  );
  assert.ok(one.series[0].step instanceof Float64Array);
  assert.deepEqual(one.series[0].inherited, [{ run: "b" }]);
  assert.deepEqual([one.runs, one.n], [["a"], 2]);
  assert.equal(narrowed(await ask("run=a&run=b"), answer), answer);
});
