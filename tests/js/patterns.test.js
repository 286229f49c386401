import assert from "node:assert/strict";
import { test } from "node:test";

import { faultOf } from "../../web/mindinsight/web/static/js/core/patterns.js";
import { parseQuery, PatternError } from "../../web/mindinsight/web/static/js/components/runs/query.js";

test("a broken regular expression says where", () => {
  const cases = [
    ["loss|acc.*", null],
    ["loss[", { at: 5, part: "[" }],
    ["(a)(b", { at: 4, part: "(" }],
    ["a)b", { at: 2, part: ")" }],
    ["*loss", { at: 1, part: "*" }],
    ["end\\", { at: 4, part: "\\" }],
    ["a**", { at: 3, part: "*" }],
  ];
  for (const [pattern, fault] of cases) assert.deepEqual(faultOf(pattern), fault, pattern);
});

test("a search names its broken pattern", () => {
  assert.throws(
    () => parseQuery("lr>1 /lo[ss/"),
    (error) => error instanceof PatternError && error.pattern === "lo[ss",
  );
});
