import assert from "node:assert/strict";
import { test } from "node:test";

import { runFacts } from "../../web/mindinsight/web/static/js/core/run_facts.js";

test("parts of a page that ask at the same time share a request, and later ones ask again", async () => {
  const asked = [];
  globalThis.document ??= { baseURI: "http://localhost/", dispatchEvent: () => true };
  globalThis.fetch = async (address) => {
    asked.push(String(address));
    return new Response(JSON.stringify({ run: "./a", n: asked.length }), {
      headers: { "Content-Type": "application/json" },
    });
  };
  const [first, second, other] = await Promise.all([runFacts("./a"), runFacts("./a"), runFacts("./b")]);
  assert.equal(first, second);
  assert.notEqual(first, other);
  assert.equal(asked.length, 2);
  await runFacts("./a");
  assert.equal(asked.length, 3);
});
